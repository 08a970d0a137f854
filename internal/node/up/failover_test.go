package up

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/internal/node/offline"
)

// databases are a PostgreSQL server with a standby, and a cluster on both.
type databases struct {
	t                *testing.T
	primary, standby *pgtest.Server
	db               *postgres.Store
	c                *cluster
}

func (d *databases) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *databases) do(s *pgtest.Server, sql string) {
	d.t.Helper()
	for _, one := range strings.Split(sql, ";") {
		d.must(s.Do(d.t.Context(), "postgres", one))
	}
}

func (d *databases) eventually(what string, ok func() bool) {
	d.t.Helper()
	begun := time.Now()
	for ; !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > patience {
			d.t.Fatal("not ", what)
		}
	}
	d.t.Logf("%s after %v", what, time.Since(begun))
}

// asserts reports whether a condition in SQL holds on a server.
func (d *databases) asserts(s *pgtest.Server, condition string) bool {
	return s.Do(d.t.Context(), "postgres", "DO $$ BEGIN ASSERT "+condition+"; END $$") == nil
}

// follows waits until the cluster answers with this best keyword and number of matches.
func (d *databases) follows(best, matched uint64) {
	d.t.Helper()
	d.eventually("followed", func() bool {
		a := d.c.search(d.t, "usb cable")
		return a.Coverage.Complete && a.Matched == matched && a.Ads[0].Keyword == best
	})
}

// write writes groups when the database can be written to again.
func (d *databases) write(groups int) {
	d.t.Helper()
	d.eventually("written", func() bool { return writeAds(d.t.Context(), d.db, groups) == nil })
}

// mark marks a campaign when the balancer can do so again.
func (d *databases) mark(campaign int, exhausted bool) {
	d.t.Helper()
	d.eventually("marked", func() bool {
		url := fmt.Sprintf("%s/v1/campaigns/%d/budget", d.c.admin, campaign)
		r, err := http.Post(url, "application/json", strings.NewReader(fmt.Sprintf(`{"exhausted":%v}`, exhausted)))
		if err != nil {
			return false
		}
		defer r.Body.Close()
		_, _ = io.Copy(io.Discard, r.Body)
		return r.StatusCode == http.StatusOK
	})
}

// TestPromotedStandby: the primary of a cluster's database is killed and its standby, which has
// everything, is promoted: queries, changes and budgets' marks go on. Then that is
// killed, and its standby, which lacks what slaves have already, is promoted: what
// was lost is lost in answers too, and changes go on.
func TestPromotedStandby(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	ctx := t.Context()
	d := &databases{t: t}
	start := func(s *pgtest.Server, err error) *pgtest.Server {
		d.must(err)
		t.Cleanup(func() { s.Remove() })
		d.must(s.Start())
		return s
	}
	d.primary = start(pgtest.New())
	d.standby = start(d.primary.Standby())
	third, err := d.primary.Standby() // follows the second one, once that is promoted
	d.must(err)
	t.Cleanup(func() { third.Remove() })
	url := d.primary.URL("postgres", d.standby, third)
	d.db, err = postgres.Open(ctx, url, postgres.Options{Create: true})
	d.must(err)
	t.Cleanup(func() { d.db.Close() })
	d.write(20)
	d.c = startUp(t, upConfig(t, url))
	d.follows(20, 20)

	d.eventually("replicated", func() bool {
		return d.asserts(d.primary, "(SELECT min(replay_lsn) FROM pg_stat_replication) = pg_current_wal_lsn()")
	})
	d.must(d.primary.Kill())
	if a := d.c.search(t, "usb cable"); a.Matched != 20 || !a.Coverage.Complete {
		t.Errorf("without a primary: %+v", a)
	}
	d.must(d.standby.Promote())
	d.write(25)
	d.follows(25, 25)
	d.mark(25, true)
	d.follows(24, 25)
	d.mark(25, false)
	d.follows(25, 25)

	d.must(third.File("postgresql.auto.conf", []byte("primary_conninfo = '"+d.standby.Conninfo()+"'\n")))
	d.must(third.Start())
	d.eventually("replicated", func() bool {
		return d.asserts(d.standby, "(SELECT min(replay_lsn) FROM pg_stat_replication) = pg_current_wal_lsn()")
	})
	d.do(third, "ALTER SYSTEM SET primary_conninfo = '';SELECT pg_reload_conf()")
	d.eventually("cut off", func() bool { return d.asserts(d.standby, "NOT EXISTS (SELECT FROM pg_stat_replication)") })
	d.write(30)
	d.follows(30, 30) // so that slaves are ahead
	d.must(d.standby.Kill())
	d.must(third.Promote())
	d.follows(25, 25)
	d.mark(25, true)
	d.follows(24, 25)
	d.write(33)
	d.follows(33, 33)
	// The servers' last starts are younger than the cluster, whose end looks for what is left.
	if err := errors.Join(d.c.stop(), d.db.Close(), third.Remove()); err != nil {
		t.Error(err)
	}
}

// TestRestoredDump: a dump of the database takes its place while the cluster runs, which
// follows what it has, and what is written next.
func TestRestoredDump(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	ctx := t.Context()
	d := &databases{t: t}
	server, err := pgtest.New("fsync=off")
	d.must(err)
	t.Cleanup(func() { server.Remove() })
	d.must(server.Start())
	d.do(server, "CREATE DATABASE ads")
	d.db, err = postgres.Open(ctx, server.URL("ads"), postgres.Options{Create: true})
	d.must(err)
	t.Cleanup(func() { d.db.Close() })
	d.write(20)
	d.c = startUp(t, upConfig(t, server.URL("ads")))
	d.follows(20, 20)
	d.must(server.Copy(ctx, "ads", "restored"))
	d.mark(20, true)
	d.write(25)
	d.follows(25, 25)
	d.do(server, "ALTER DATABASE ads ALLOW_CONNECTIONS false;SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ads'")
	d.eventually("renamed", func() bool { return server.Do(ctx, "postgres", "ALTER DATABASE ads RENAME TO before") == nil })
	d.do(server, "ALTER DATABASE restored RENAME TO ads")
	d.follows(20, 20)
	d.write(33)
	d.follows(33, 33)
	d.mark(33, true)
	d.follows(32, 33)
	if err := errors.Join(d.c.stop(), d.db.Close()); err != nil {
		t.Error(err)
	}
}

// TestFillsFromAReplica: stores that are built at a standby which is behind go on from there by the
// primary's log; and distributors fill slaves at the standby.
func TestFillsFromAReplica(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	ctx := t.Context()
	d := &databases{t: t}
	var err error
	d.primary, err = pgtest.New("fsync=off")
	d.must(err)
	t.Cleanup(func() { d.primary.Remove() })
	d.must(d.primary.Start())
	d.standby, err = d.primary.Standby()
	d.must(err)
	t.Cleanup(func() { d.standby.Remove() })
	d.must(d.standby.Start())
	_, socket, _ := strings.Cut(d.standby.Conninfo(), "host=")
	socket, _, _ = strings.Cut(socket, " ")
	url := d.primary.URL("postgres") + "&replica=" + socket
	d.db, err = postgres.Open(ctx, url, postgres.Options{Create: true})
	d.must(err)
	t.Cleanup(func() { d.db.Close() })
	replicated := func() bool {
		return d.asserts(d.primary, "(SELECT min(replay_lsn) FROM pg_stat_replication) = pg_current_wal_lsn()")
	}
	d.write(300)
	behind, err := d.db.Newest(ctx)
	d.must(err)
	d.eventually("replicated", replicated)
	d.do(d.standby, "SELECT pg_wal_replay_pause()")
	d.eventually("paused", func() bool { return d.asserts(d.standby, "pg_get_wal_replay_pause_state() = 'paused'") })
	d.write(310)

	build := offline.DefaultConfig()
	build.DB, build.Out = url, filepath.Join(t.TempDir(), "barrels")
	sum, err := offline.Build(ctx, build, nil)
	if err != nil || sum.Clock != behind.Clock || sum.Keywords != 300 {
		t.Fatalf("built at the replica: %+v, %v; it is at %v", sum, err, behind)
	}
	cfg := upConfig(t, url)
	cfg.Barrels = build.Out
	d.c = startUp(t, cfg)
	d.follows(310, 310)
	d.must(d.c.stop())

	d.do(d.standby, "SELECT pg_wal_replay_resume()")
	d.eventually("replicated", replicated)
	const reads = "(SELECT coalesce(sum(seq_scan + idx_scan), 0) FROM pg_stat_user_tables WHERE relname = 'keyword')"
	d.eventually("forgotten", func() bool { // what was read for the build
		return d.standby.Do(ctx, "postgres", "SELECT pg_stat_reset()") == nil && d.asserts(d.standby, reads+" = 0")
	})
	cfg = upConfig(t, url)
	cfg.Slaves = 1 // with so many groups that its fill counts as one
	d.c = startUp(t, cfg)
	d.follows(310, 310)
	d.must(d.c.stop()) // the server counts the reads of a connection when it ends
	d.eventually("read", func() bool { return d.asserts(d.standby, reads+" > 0") })
	if err := errors.Join(d.db.Close(), d.standby.Remove()); err != nil {
		t.Error(err)
	}
}
