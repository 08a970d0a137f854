package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/events/store"
	"adshard/events/store/postgres"
	"adshard/events/store/storetest"
	"adshard/fault"
)

var (
	server *pgtest.Server
	made   atomic.Int64
)

// childEnv has the URL of the database to which a child process adds.
const childEnv = "ADSHARD_EVENTS_CHILD"

func TestMain(m *testing.M) {
	if url := os.Getenv(childEnv); url != "" {
		fmt.Fprintln(os.Stderr, child(url))
		os.Exit(1)
	}
	os.Exit(run(m))
}

func child(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // in case the parent has ended
	defer cancel()
	s, err := postgres.Open(ctx, url)
	if err == nil {
		err = storetest.Child(ctx, s, os.Stdout)
	}
	return err
}

func run(m *testing.M) (status int) {
	var err error
	server, err = pgtest.New("fsync=off", "full_page_writes=off")
	if err == nil {
		defer server.Remove()
		err = server.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// database makes an empty database and returns its URL.
func database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("events_", made.Add(1))
	if err := server.Do(t.Context(), "postgres", "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return server.URL(name)
}

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestConformance runs the conformance suite. One of the two stores prepares no statements in sessions, as required by poolers that use
// another session for each transaction.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (a, b store.Store) {
		url := database(t)
		return open(t, url), open(t, url+"&default_query_exec_mode=cache_describe")
	})
}

// TestEncodings tests that a database that cannot store every text is rejected, with advice.
func TestEncodings(t *testing.T) {
	name := fmt.Sprint("events_", made.Add(1))
	if err := server.Do(t.Context(), "postgres", "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING LATIN1"); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Open(t.Context(), server.URL(name))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "LATIN1") || !strings.Contains(err.Error(), "createdb") {
		t.Error(err)
	}
}

func TestIdentity(t *testing.T) {
	url := database(t)
	storetest.Identity(t, func() store.Store { return open(t, url) }, open(t, database(t)))
}

func TestKill(t *testing.T) {
	url := database(t)
	storetest.Kill(t, open(t, url), func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+url)
		return c
	})
}

func TestKillFold(t *testing.T) {
	url := database(t)
	storetest.KillFold(t, open(t, url), func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+url)
		return c
	})
}

// TestOpen tests the kinds of errors for wrong URLs and servers, that several programs may create the tables at once, and that a
// replica in the URL is not used.
func TestOpen(t *testing.T) {
	for url, kind := range map[string]fault.Kind{
		"postgres://h:x/": fault.Invalid, server.URL("none"): fault.Unavailable, "postgres:///d?host=/nowhere": fault.Unavailable,
		server.URL("template1") + "&target_session_attrs=standby": fault.Unavailable,
	} {
		if _, err := postgres.Open(t.Context(), url); !fault.Is(err, kind) {
			t.Errorf("%s: %v, want %v", url, err, kind)
		}
	}
	url := database(t)
	var programs sync.WaitGroup
	for range 4 {
		programs.Go(func() { open(t, url+"&replica=/nowhere") })
	}
	programs.Wait()
	if err := server.Do(t.Context(), fmt.Sprint("events_", made.Load()), "UPDATE adshard_events.horizon SET format = 99"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), url); !fault.Is(err, fault.Version) {
		t.Errorf("of another format: %v", err)
	}
}

// earlier changes a table to what it was when it was made in steps, before there was one schema: its columns have another order.
const earlier = `ALTER TABLE adshard_events.folded DROP COLUMN ad, DROP COLUMN position;
ALTER TABLE adshard_events.folded ADD COLUMN ad bigint NOT NULL, ADD COLUMN position smallint NOT NULL,
  ADD PRIMARY KEY (advertiser, campaign, keyword, day, ad, position)`

func TestNextFormat(t *testing.T) {
	for name, script := range map[string]string{"made at once": "SELECT", "made in steps": earlier} {
		t.Run(name, func(t *testing.T) {
			url := database(t)
			database := fmt.Sprint("events_", made.Load())
			s := open(t, url)
			if err := server.Do(t.Context(), database, script); err != nil {
				t.Fatal(err)
			}
			storetest.NextFormat(t, s, func() (store.Store, error) {
				s, err := postgres.OpenNext(t.Context(), url)
				if err == nil {
					t.Cleanup(func() { s.Close() })
				}
				return s, err
			}, func() (store.Store, error) { return postgres.Open(t.Context(), url) })
		})
	}
}

func TestFormat3(t *testing.T) {
	url := database(t)
	database := fmt.Sprint("events_", made.Load())
	storetest.Format3(t, open(t, url), func() {
		if err := server.Do(t.Context(), database, "DROP TABLE adshard_events.identity; UPDATE adshard_events.horizon SET format = 3"); err != nil {
			t.Fatal(err)
		}
	}, func() store.Store { return open(t, url) })
}

// TestFormatsThatWereNotReleased tests that tables of such a format are rejected and left as they are.
func TestFormatsThatWereNotReleased(t *testing.T) {
	url := database(t)
	open(t, url)
	if err := server.Do(t.Context(), fmt.Sprint("events_", made.Load()), "UPDATE adshard_events.horizon SET format = 2"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := postgres.Open(t.Context(), url); !fault.Is(err, fault.Version) || !strings.Contains(err.Error(), "once with the program of format 3") {
			t.Error(err)
		}
	}
}

// TestReader tests that a reader creates no tables and changes none.
func TestReader(t *testing.T) {
	url := database(t)
	for range 2 { // the first call creates nothing
		if s, err := postgres.OpenReader(t.Context(), url); s != nil || !fault.Is(err, fault.NotFound) {
			t.Errorf("%v, %v of no tables", s, err)
		}
	}
	open(t, url)
	s, err := postgres.OpenReader(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Sums(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if err := s.(store.Store).SetMark(t.Context(), store.Mark{Campaign: 1, Day: 1}); err == nil {
		t.Error("it writes")
	}
	if err := server.Do(t.Context(), fmt.Sprint("events_", made.Load()), "UPDATE adshard_events.horizon SET format = 2"); err != nil {
		t.Fatal(err)
	}
	if s, err := postgres.OpenReader(t.Context(), url); s != nil || !fault.Is(err, fault.Version) {
		t.Errorf("%v, %v of older tables", s, err)
	}
}

// TestServerDies tests that nothing is acknowledged while the server is away, that acknowledged events are there when it is back, and
// that rejected events count once when they are sent again.
func TestServerDies(t *testing.T) {
	s := open(t, database(t))
	if out, err := s.Add(t.Context(), []store.Event{storetest.EventOf(1, 0)}); err != nil || out[0] != store.Counted {
		t.Fatalf("%v, %v", out, err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	both := []store.Event{storetest.EventOf(1, 0), storetest.EventOf(2, 0)}
	if _, err := s.Add(t.Context(), both); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var out []store.Outcome
	var err error
	for range 20 { // each old connection of the pool fails once
		if out, err = s.Add(t.Context(), both); err == nil {
			break
		}
	}
	if err != nil || out[0] != store.Duplicate || out[1] != store.Counted {
		t.Errorf("%v, %v", out, err)
	}
}

// TestNoSecrets tests that a URL with a password is rejected, and that no error shows the password.
func TestNoSecrets(t *testing.T) {
	for _, url := range []string{"postgres://u:secret@h:x/d", "postgres://u:secret@/d?host=/nowhere", "postgres://u:sec%ret@h/d", "postgres:///d?host=/nowhere&password=secret"} {
		if _, err := postgres.Open(t.Context(), url); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret") {
			t.Errorf("%v", err)
		}
	}
}

func BenchmarkAdd(b *testing.B) { storetest.Bench(b, open(b, database(b))) }

func BenchmarkFold(b *testing.B) {
	for _, keywords := range []uint64{10_000, 0} {
		b.Run(fmt.Sprint("keywords=", keywords), func(b *testing.B) {
			storetest.BenchFold(b, open(b, database(b)), keywords)
		})
	}
}
