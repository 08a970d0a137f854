package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"adshard/backend/pgtest"
	"adshard/counters/store"
	"adshard/counters/store/postgres"
	"adshard/counters/store/storetest"
	"adshard/fault"
)

var (
	server *pgtest.Server
	made   atomic.Int64
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
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
	name := fmt.Sprint("counters_", made.Add(1))
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
	t.Cleanup(s.Close)
	return s
}

// TestConformance runs the conformance suite. One of the two stores prepares no statements in sessions, which poolers require that use
// another session for each transaction.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (a, b store.Store) {
		url := database(t)
		return open(t, url), open(t, url+"&default_query_exec_mode=cache_describe")
	})
}

// TestEncodings tests that a database that cannot store every text is rejected, with advice.
func TestEncodings(t *testing.T) {
	name := fmt.Sprint("counters_", made.Add(1))
	if err := server.Do(t.Context(), "postgres", "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING LATIN1"); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Open(t.Context(), server.URL(name))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "LATIN1") || !strings.Contains(err.Error(), "createdb") {
		t.Error(err)
	}
}

// TestOpen tests the kinds of errors for wrong URLs and servers, and that several programs may create the table at once.
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
		programs.Go(func() { open(t, url) })
	}
	programs.Wait()
}

// TestLockedByAnother tests that Apply waits until its context ends while another program holds a row.
func TestLockedByAnother(t *testing.T) {
	url := database(t)
	s := open(t, url)
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO adshard_counters VALUES ('k', '', 1)"); err != nil {
		t.Fatal(err)
	}
	storetest.Waits(t, s)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), store.Change{Key: "k"}); err != nil {
		t.Error(err)
	}
}

// TestNoSecrets tests that no error shows a password from a URL.
func TestNoSecrets(t *testing.T) {
	for _, url := range []string{"postgres://u:secret@h:x/d", "postgres://u:secret@/d?host=/nowhere", "postgres://u:sec%ret@h/d"} {
		if _, err := postgres.Open(t.Context(), url); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret") {
			t.Errorf("%v", err)
		}
	}
}
