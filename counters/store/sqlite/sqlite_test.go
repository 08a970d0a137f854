package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/counters/store"
	"adshard/counters/store/sqlite"
	"adshard/counters/store/storetest"
	"adshard/fault"
)

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
		path := filepath.Join(t.TempDir(), "counters.db")
		return open(t, path), open(t, path)
	})
}

// TestOpen tests that files that are not files of counters are rejected, and with which
// kind of error.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	garbage, newer := filepath.Join(dir, "garbage"), filepath.Join(dir, "newer")
	if err := os.WriteFile(garbage, []byte("this is not a database, but it is long enough to look like one to SQLite, "+
		"which reads a hundred bytes of header before it says so"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	c, err := zs.OpenConn(newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(c, "PRAGMA user_version = 99", nil); err != nil {
		t.Fatal(err)
	}
	c.Close()
	for path, kind := range map[string]fault.Kind{
		garbage: fault.Corrupt, newer: fault.Version, filepath.Join(dir, "none", "x"): fault.Unavailable,
	} {
		if s, err := sqlite.Open(t.Context(), path); !fault.Is(err, kind) {
			t.Errorf("%s: %v, %v, want %v", filepath.Base(path), s, err, kind)
		}
	}
}

// TestLockedByAnother tests that Apply waits until its context ends while another
// program writes.
func TestLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counters.db")
	s := open(t, path)
	other, err := zs.OpenConn(path, zs.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	storetest.Waits(t, s)
	if err := sqlitex.ExecuteTransient(other, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), store.Change{Key: "k"}); err != nil {
		t.Error(err)
	}
}
