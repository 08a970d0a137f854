package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	_ "modernc.org/sqlite" // copies a database
)

// serverDown kills PostgreSQL with all its processes.
type serverDown struct{}

func serverKilled(_ *rand.Rand, s *schedule) fault {
	if s.database != "postgres" {
		return nil
	}
	return serverDown{}
}

func (serverDown) String() string     { return "postgres" }
func (serverDown) touches() []string  { return []string{"database"} }
func (serverDown) do(g *grid) error   { return g.database.server.Kill() }
func (serverDown) undo(g *grid) error { return g.database.server.Start() }

// restore takes a copy of the database, and puts it in the database's place later: what
// was acknowledged in between is gone.
type restore struct {
	clock *uint64 // of the copy
}

func restored(*rand.Rand, *schedule) fault { return restore{new(uint64)} }

func (restore) String() string    { return "to what it was" }
func (restore) touches() []string { return append(allNames(), "database", "operator") }

func (f restore) do(g *grid) error {
	defer g.changing.Pause()()
	at, err := g.database.store.Newest(context.Background())
	if err != nil {
		return err
	}
	*f.clock = at.Clock
	return g.database.backUp()
}

func (f restore) undo(g *grid) error {
	before, err := g.client.Status()
	if err != nil {
		return err
	}
	defer g.changing.Pause()()
	g.changing.Restored(*f.clock)
	if err := g.database.putBack(); err != nil {
		return err
	}
	err = g.eventually("another epoch of the balancer, and everything whole", func() bool {
		now, err := g.client.Status()
		whole, _ := g.whole()
		return err == nil && now.Epoch != before.Epoch && whole && g.database.store.Health(context.Background()) == nil
	})
	g.changing.Settled()
	return err
}

func (d *database) backUp() error {
	if d.server != nil {
		return d.server.Copy(context.Background(), d.name, d.name+"copy")
	}
	db, err := sql.Open("sqlite", d.path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("VACUUM INTO ?", d.path+".copy")
	return err
}

func (d *database) putBack() error {
	if d.server != nil {
		ctx := context.Background()
		return errors.Join(
			d.server.Do(ctx, "postgres", fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'; ALTER DATABASE %[1]s RENAME TO %[1]sold", d.name)),
			d.server.Do(ctx, "postgres", fmt.Sprintf("ALTER DATABASE %[1]scopy RENAME TO %[1]s", d.name)),
			d.server.Do(ctx, "postgres", "DROP DATABASE "+d.name+"old WITH (FORCE)"))
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(d.path + suffix); err != nil {
			return err
		}
	}
	return os.Rename(d.path+".copy", d.path)
}

// impostor starts the balancer or the distributor on another database, by mistake, and
// later on its own again.
type impostor struct{ on }

func otherDatabase(dice *rand.Rand, _ *schedule) fault {
	return impostor{on{pick(dice, append(balancerNames(), distributorNames()...))}}
}

func (f impostor) do(g *grid) error   { return f.with(g, g.stock.other(g.database)) }
func (f impostor) undo(g *grid) error { return f.with(g, g.database.url) }

func (f impostor) with(g *grid, url string) error {
	p := g.part(f.on[0])
	g.down(p)
	defer g.up(p)
	return p.Configure(p.Changed(g.t, "db", url))
}

// eventually waits until ok.
func (g *grid) eventually(what string, ok func() bool) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return nil
		}
	}
	_, why := g.whole()
	return fmt.Errorf("not within %v: %s (%s)", patience, what, why)
}

// patience bounds all waits.
const patience = 5 * time.Minute
