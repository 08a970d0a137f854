package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"adshard/backend/sqlite"
	"adshard/internal/clustertest"
	nodedb "adshard/internal/node/database"
)

// restore backs the database up, while changes continue, and replaces the database with the backup later: changes
// acknowledged in between are lost. Both are done as docs/operations/backup.md says: with adshard backup and restore,
// or with PostgreSQL's own programs.
type restore struct {
	backup string // unique name
}

func restored(dice *rand.Rand, _ *schedule) fault {
	return restore{fmt.Sprintf("backup%08x", dice.Uint32())}
}

func (restore) String() string    { return "to what it was" }
func (restore) touches() []string { return append(allNames(), "database", "operator") }

func (f restore) do(g *grid) error { return g.database.backUp(f.backup) }

func (f restore) undo(g *grid) error {
	epoch := uint64(0)
	if err := g.eventually("a balancer leads", func() bool {
		s, err := g.client.Status()
		epoch = s.Epoch
		return err == nil
	}); err != nil {
		return err
	}
	clock, err := g.database.unpack(f.backup)
	if err != nil {
		return err
	}
	defer g.changing.Pause()()
	g.changing.Restored(clock)
	if err := g.database.putBack(f.backup); err != nil {
		return err
	}
	err = g.eventually("another epoch of the balancer, and everything whole", func() bool {
		now, err := g.client.Status()
		whole, _ := g.whole()
		return err == nil && now.Epoch != epoch && whole && g.database.store.Health(context.Background()) == nil
	})
	g.changing.Settled()
	return err
}

func (d *database) directory(backup string) string {
	return filepath.Join(filepath.Dir(d.path), backup)
}

// backUp makes a backup.
func (d *database) backUp(name string) error {
	if d.server != nil {
		return d.server.Run("pg_dump", "--schema=adshard*", "-Fc", "-f", name+".dump", d.server.URL(d.name))
	}
	return clustertest.Adshard(context.Background(), "backup", "--db", d.url, "--out", d.directory(name))
}

// unpack returns the clock of a backup. A PostgreSQL backup is first restored beside the database.
func (d *database) unpack(name string) (clock uint64, err error) {
	if d.server == nil {
		m, err := sqlite.ReadManifest(d.directory(name))
		if err != nil {
			return 0, err
		}
		return m.Clock, nil
	}
	ctx, beside := context.Background(), d.server.URL(d.name+"_restored")
	if err := d.psql("CREATE DATABASE " + d.name + "_restored"); err != nil { // as createdb does
		return 0, err
	}
	if err := d.server.Run("pg_restore", "--exit-on-error", "-d", beside, name+".dump"); err != nil {
		return 0, err
	}
	store, err := nodedb.Open(ctx, beside, false)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	at, err := store.Newest(ctx)
	return at.Clock, err
}

// putBack replaces the database with a backup, while only the cluster changes it.
func (d *database) putBack(name string) error {
	if d.server != nil {
		return d.psql("ALTER DATABASE "+d.name+" ALLOW_CONNECTIONS false",
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+d.name+"'",
			"ALTER DATABASE "+d.name+" RENAME TO "+d.name+"_before",
			"ALTER DATABASE "+d.name+"_restored RENAME TO "+d.name,
			"DROP DATABASE "+d.name+"_before")
	}
	err := clustertest.Adshard(context.Background(), "restore", "--from", d.directory(name), "--db", d.url, "--replace")
	if err != nil {
		return err
	}
	return os.RemoveAll(d.directory(name))
}

// psql runs statements one at a time.
func (d *database) psql(statements ...string) error {
	args := []string{"-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", d.server.URL("postgres")}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	return d.server.Run("psql", args...)
}
