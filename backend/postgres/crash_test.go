package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/fault"
)

// TestKill kills a program that writes.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it spends its time in other processes")
	}
	p := newPlace(t).(place)
	backendtest.Kill(t, quietPlace{p}, func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+shared.URL(p.name))
		c.Stderr = os.Stderr
		return c
	})
}

// quietPlace opens a database when the server has noticed that the previous program is gone. Until then that
// program's transaction is open, and ids would have gaps.
type quietPlace struct{ place }

func (p quietPlace) Open(t testing.TB, busy time.Duration) backend.Store {
	t.Helper()
	c := session(t, p.place)
	defer c.Close(t.Context())
	for others := 1; others > 0; time.Sleep(5 * time.Millisecond) {
		must(t, c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&others))
	}
	return p.place.Open(t, busy)
}

// server starts a separate server for a test, as durable as any.
func server(t *testing.T, settings ...string) *pgtest.Server {
	t.Helper()
	s, err := pgtest.New(settings...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Remove()) })
	must(t, s.Start())
	return s
}

// acknowledged keeps what the writers' commits have acknowledged.
type acknowledged struct {
	mu    sync.Mutex
	words map[string]bool
	value int // of the control value
	fails int // transactions that failed
}

func (a *acknowledged) note(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// load writes from eight goroutines until ctx ends. Failed transactions are retried with other words.
func (a *acknowledged) load(ctx context.Context, t *testing.T, s backend.Store) *sync.WaitGroup {
	var work sync.WaitGroup
	for w := range 8 {
		work.Go(func() {
			for r := 0; ctx.Err() == nil; r++ {
				words := fmt.Sprint("writer ", w, " round ", r)
				err := write(ctx, s, func(tx backend.Tx) error { return addTo(ctx, tx, "C", fmt.Sprint("G", w), words) })
				a.note(func() {
					if err == nil {
						a.words[words] = true
					} else {
						a.fails++
					}
				})
				if err != nil && ctx.Err() == nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Locked) {
					t.Errorf("%s: %v", words, err)
				}
			}
		})
	}
	work.Go(func() {
		for v := 1; ctx.Err() == nil; v++ {
			if s.SaveControl(ctx, "value", fmt.Append(nil, v)) == nil {
				a.note(func() { a.value = v })
			}
		}
	})
	return &work
}

// check compares what was acknowledged with the content of the database, and the feed with both.
func (a *acknowledged) check(t *testing.T, s backend.Store) {
	t.Helper()
	state := backendtest.ReadNow(t, s)
	there := make(map[string]bool)
	for _, it := range state.Items {
		for _, k := range it.Keywords {
			there[k.Words] = true
		}
	}
	for words := range a.words {
		if !there[words] {
			t.Errorf("%s was acknowledged and is lost", words)
		}
	}
	value, err := s.LoadControl(t.Context(), "value")
	must(t, err)
	if n := 0; a.value > 0 {
		if _, err := fmt.Sscan(string(value), &n); err != nil || n < a.value {
			t.Errorf("the control value is %s after %d", value, a.value)
		}
	}
	// Transactions under way when the writers were stopped may still be committed.
	before, err := s.Newest(t.Context())
	must(t, err)
	changes, err := s.Changes(t.Context(), backend.Position{}, 1<<20)
	must(t, err)
	after, err := s.Newest(t.Context())
	must(t, err)
	for i, c := range changes {
		if c.Clock != uint64(i+1) {
			t.Fatalf("clock %d follows %d", c.Clock, i)
		}
	}
	if n := uint64(len(changes)); n < before.Clock || n > after.Clock {
		t.Errorf("%d changes; the newest clock was %d before they were read, %d after", n, before.Clock, after.Clock)
	}
	if len(a.words) == 0 || a.fails == 0 {
		t.Errorf("%d transactions were acknowledged, %d failed", len(a.words), a.fails)
	}
}

// TestTheServerIsKilled kills the server under load with SIGKILL, several times: no acknowledged commit is lost, and
// the store recovers by itself.
func TestTheServerIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it spends its time in other processes")
	}
	srv := server(t)
	s, err := postgres.Open(t.Context(), srv.URL("postgres"), postgres.Options{Create: true})
	must(t, err)
	defer s.Close()
	a := &acknowledged{words: make(map[string]bool)}
	ctx, cancel := context.WithCancel(t.Context())
	work := a.load(ctx, t, s)
	for range 2 {
		a.waitForMore(t)
		must(t, srv.Kill())
		must(t, srv.Start())
	}
	a.waitForMore(t)
	cancel()
	work.Wait()
	a.check(t, s)
}

// waitForMore returns when some more transactions have been acknowledged.
func (a *acknowledged) waitForMore(t *testing.T) {
	t.Helper()
	count := func() (n int) {
		a.note(func() { n = len(a.words) })
		return n
	}
	deadline := time.Now().Add(time.Minute)
	for first := count(); count() < first+20; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is acknowledged any more")
		}
	}
}

// TestFailover kills the primary in the middle of an import and promotes its synchronous standby. The import fails
// and can be repeated, all other programs continue with the URL of both servers, and no acknowledged commit is lost.
func TestFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it spends its time in other processes")
	}
	ctx := t.Context()
	primary := server(t)
	standby, err := primary.Standby()
	must(t, err)
	t.Cleanup(func() { must(t, standby.Remove()) })
	must(t, standby.Start())
	must(t, primary.Do(ctx, "postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'"))
	must(t, primary.Do(ctx, "postgres", "SELECT pg_reload_conf()"))

	// The standby comes first in the URL: it is skipped while it is read-only.
	s, err := postgres.Open(ctx, standby.URL("postgres", primary), postgres.Options{Create: true})
	must(t, err)
	defer s.Close()
	a := &acknowledged{words: make(map[string]bool)}
	loading, cancel := context.WithCancel(ctx)
	defer cancel()
	work := a.load(loading, t, s)
	a.waitForMore(t)
	tx, err := s.Begin(ctx)
	must(t, err)
	must(t, addTo(ctx, tx, "import", "G", "begun", "before"))

	must(t, primary.Kill())
	if err := tx.Commit(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the import's commit on a dead server: %v", err)
	}
	must(t, standby.Promote())
	must(t, standby.Do(ctx, "postgres", "ALTER SYSTEM SET synchronous_standby_names = ''"))
	must(t, standby.Do(ctx, "postgres", "SELECT pg_reload_conf()"))
	a.waitForMore(t)
	add(t, s, "import", "G", "begun", "before")
	must(t, s.Health(ctx))
	cancel()
	work.Wait()
	a.check(t, s)
}
