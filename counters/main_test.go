package counters_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/backend/pgtest"
	"adshard/counters"
	"adshard/counters/store"
	"adshard/counters/store/memory"
	"adshard/counters/store/postgres"
	"adshard/counters/store/sqlite"
)

// server is the PostgreSQL server of all tests. It is nil in short mode, in which tests
// only run on the store in memory.
var (
	server *pgtest.Server
	made   atomic.Int64
)

func TestMain(m *testing.M) {
	if place := os.Getenv(childEnv); place != "" {
		if err := child(place); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1) // it is killed, or it failed
	}
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	flag.Parse()
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status = m.Run()
	var err error
	if server != nil {
		err = server.Remove()
	}
	if err = errors.Join(err, goleak.Find()); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

func start() (err error) {
	if testing.Short() {
		clear(places)
		return nil
	}
	if server, err = pgtest.New("fsync=off", "full_page_writes=off"); err != nil {
		return err
	}
	if err = server.Start(); err != nil {
		return errors.Join(err, server.Remove())
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// places has functions that make an empty store of each kind. They return a text with
// which it can be opened any number of times.
var places = map[string]func(testing.TB) string{
	"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "counters.db") },
	"postgres": func(t testing.TB) string {
		t.Helper()
		name := fmt.Sprint("counters_", made.Add(1))
		must(t, server.Do(t.Context(), "postgres", "CREATE DATABASE "+name))
		return server.URL(name)
	},
}

// opened opens the store at a place.
func opened(ctx context.Context, place string) (s store.Store, end func(), err error) {
	if place[0] == '/' {
		f, err := sqlite.Open(ctx, place)
		return f, func() { f.Close() }, err
	}
	p, err := postgres.Open(ctx, place)
	return p, func() { p.Close() }, err
}

// onEach runs a test on an empty store of each kind.
func onEach(t *testing.T, test func(*testing.T, store.Store)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.New()) })
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			s, end, err := opened(t.Context(), place(t))
			must(t, err)
			t.Cleanup(end)
			test(t, s)
		})
	}
}

// modes has all modes, with few shards, so that updates conflict.
var modes = map[string]counters.Mode{
	"single": counters.Static(1), "static": counters.Static(3), "dynamic": counters.Dynamic(), "adaptive": counters.Adaptive(counters.DefaultRule()),
}

// sums returns a family of numbers that are added up.
func sums(t testing.TB, s store.Store, m counters.Mode, o counters.Options) *counters.Family[int64] {
	t.Helper()
	f, err := counters.New(s, counters.Sum[int64](), m, o)
	must(t, err)
	return f
}

// quick makes updates settle in milliseconds.
var quick = counters.Options{Backoff: time.Microsecond}

func plus(d int64) func(int64) int64 { return func(n int64) int64 { return n + d } }

// worth fails unless a new family reads this value.
func worth(t testing.TB, s store.Store, counter string, want int64) {
	t.Helper()
	if got, err := sums(t, s, counters.Static(1), counters.Options{}).Value(context.Background(), counter); err != nil || got != want {
		t.Fatalf("%s is %d, want %d (%v)", counter, got, want, err)
	}
}
