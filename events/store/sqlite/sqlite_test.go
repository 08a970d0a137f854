package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store"
	"adshard/events/store/sqlite"
	"adshard/events/store/storetest"
	"adshard/fault"
)

// childEnv names the file to which a child process adds.
const childEnv = "ADSHARD_EVENTS_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, child(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func child(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // however the parent ended
	defer cancel()
	s, err := sqlite.Open(ctx, path)
	if err == nil {
		err = storetest.AddForever(ctx, s, os.Stdout)
	}
	return err
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (a, b store.Store) {
		path := filepath.Join(t.TempDir(), "events.db")
		return open(t, path), open(t, path)
	})
}

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	storetest.Kill(t, open(t, path), func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+path)
		return c
	})
}

// TestOpen: what is no file of events is refused, by kind.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	garbage, newer, other := filepath.Join(dir, "garbage"), filepath.Join(dir, "newer"), filepath.Join(dir, "other")
	if err := os.WriteFile(garbage, []byte("this is not a database, but it is long enough to look like one to SQLite, "+
		"which reads a hundred bytes of header before it says so"), 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, newer, "PRAGMA user_version = 99")
	execute(t, other, "CREATE TABLE t (x)")
	for path, kind := range map[string]fault.Kind{
		garbage: fault.Corrupt, newer: fault.Version, other: fault.Version, filepath.Join(dir, "none", "x"): fault.Unavailable,
	} {
		if s, err := sqlite.Open(t.Context(), path); !fault.Is(err, kind) {
			t.Errorf("%s: %v, %v, want %v", filepath.Base(path), s, err, kind)
		}
	}
}

func execute(t testing.TB, path, sql string) {
	t.Helper()
	c, err := zs.OpenConn(path)
	if err == nil {
		err = sqlitex.ExecuteTransient(c, sql, nil)
		c.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileAway: while the file is not where it was, nothing is acknowledged; when it is back,
// the store goes on.
func TestFileAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path)
	add := func(n uint64) ([]store.Outcome, error) {
		return s.Add(t.Context(), []store.Event{storetest.EventOf(n, 0)})
	}
	if _, err := add(1); err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if replace {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := add(2); !fault.Is(err, fault.Unavailable) {
			t.Errorf("replaced %v: %v", replace, err)
		}
		if err := s.Health(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("replaced %v: health %v", replace, err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := add(2); err != nil || out[0] != store.Counted {
		t.Errorf("%v, %v", out, err)
	}
}

// TestLockedByAnother: while another program writes, Add waits until its context ends.
func TestLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path)
	other, err := zs.OpenConn(path, zs.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Add(ctx, []store.Event{storetest.EventOf(1, 0)}); !fault.Is(err, fault.Deadline) {
		t.Errorf("%v", err)
	}
	if err := sqlitex.ExecuteTransient(other, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Add(t.Context(), []store.Event{storetest.EventOf(1, 0)}); err != nil || out[0] != store.Counted {
		t.Errorf("%v, %v", out, err)
	}
}

func BenchmarkAdd(b *testing.B) {
	storetest.Bench(b, open(b, filepath.Join(b.TempDir(), "events.db")))
}
