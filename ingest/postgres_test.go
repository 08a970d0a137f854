package ingest_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/ingest"
)

func postgresServer(t *testing.T, settings ...string) *pgtest.Server {
	t.Helper()
	s, err := pgtest.New(settings...)
	if err == nil {
		t.Cleanup(func() { s.Remove() })
		err = s.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFailover kills the primary in the middle of an import and promotes its synchronous standby. The import
// continues by itself, and gives the same database as an undisturbed one.
func TestFailover(t *testing.T) {
	text := manyRows(3000)
	calm := openDatabase(t, filepath.Join(t.TempDir(), "calm.db"))
	defer calm.Close()
	want, err := ingest.Run(t.Context(), calm, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	primary := postgresServer(t)
	standby, err := primary.Standby()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { standby.Remove() })
	synchronous := func(s *pgtest.Server, names string) {
		for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + names + "'", "SELECT pg_reload_conf()"} {
			if err := s.Do(t.Context(), "postgres", sql); err != nil {
				t.Error(err)
			}
		}
	}
	if err := standby.Start(); err != nil {
		t.Fatal(err)
	}
	synchronous(primary, "*")
	store, err := postgres.Open(t.Context(), primary.URL("postgres", standby), postgres.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var failover sync.WaitGroup
	killed, noticed := false, make(chan struct{})
	notice := sync.OnceFunc(func() { close(noticed) })
	sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text), BatchRows: 300,
		Repeating: func(err error) {
			notice()
			t.Log(err)
		},
		Progress: func(p ingest.Progress) {
			if killed || p.Rows < 1000 {
				return
			}
			killed = true
			if err := primary.Kill(); err != nil { // before the import continues: it may end within milliseconds
				t.Error(err)
			}
			failover.Go(func() { // not before the import has noticed: a pool of connections may find the standby by itself
				select {
				case <-noticed:
				case <-time.After(30 * time.Second):
					t.Error("the import did not notice that its server was killed")
				}
				if err := standby.Promote(); err != nil {
					t.Error(err)
				}
				synchronous(standby, "")
			})
		}})
	failover.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if contents(t, store) != contents(t, calm) {
		t.Error("a different content than without the failover")
	}
	if sum.Rows != want.Rows || sum.Entities != want.Entities {
		t.Errorf("%+v, want %+v", sum, want)
	}
}

// TestImportsAtOnce lets several imports write the same groups in opposite orders, so that they wait for each other.
// All must end, with every entity written.
func TestImportsAtOnce(t *testing.T) {
	server := postgresServer(t, "fsync=off", "deadlock_timeout=50ms")
	lines := strings.SplitAfter(manyRows(600), "\n")
	head, rows := lines[0], lines[1:len(lines)-1]
	var imports sync.WaitGroup
	for i := range 4 {
		store, err := postgres.Open(t.Context(), server.URL("postgres"), postgres.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		text := head
		for k := range rows {
			if i%2 == 1 {
				k = len(rows) - 1 - k
			}
			text += rows[k]
		}
		imports.Go(func() {
			sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text), BatchRows: 200})
			if err != nil || sum.Rows != int64(len(rows)) || sum.Rejected != 0 {
				t.Errorf("import %d: %v, %+v", i, err, sum)
			}
		})
	}
	imports.Wait()
	store, err := postgres.Open(t.Context(), server.URL("postgres"), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if n, err := store.Counts(t.Context()); err != nil || n.Keywords != 600 || n.Negatives != 61 || n.Ads != 60 {
		t.Errorf("%+v, %v", n, err)
	}
}
