package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
)

// killed returns the path of a database as a killed program leaves it, with a change that is only in its log, a
// backup without that change, and the database's position.
func killed(t *testing.T) (path, backup string, newest backend.Position) {
	t.Helper()
	of, backup, _ := backedUp(t)
	s := openAt(t, of)
	defer s.Close()
	if err := addKeyword(t.Context(), s, "after"); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "ads.db")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(of + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newest, err := s.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return path, backup, newest
}

// newestAt opens a database that must be there.
func newestAt(t *testing.T, path string) backend.Position {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	at, err := s.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestRestoreAfterAKill: after each step of a restore the database is complete under one of its names, including what
// is only in its log, and the restore can be repeated.
func TestRestoreAfterAKill(t *testing.T) {
	for name, renamed := range map[string]bool{"before the rename": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			path, backup, want := killed(t)
			first := path + ".replaced-1"
			err := sqlite.LinkLogs(path, first)
			if renamed {
				err = errors.Join(err, os.Rename(path, first))
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sqlite.Restore(t.Context(), backup, path, false, sqlite.Options{}, nil); !fault.Is(err, fault.Conflict) {
				t.Errorf("with parts of a database there, without replace: %v", err)
			}
			r, err := sqlite.Restore(t.Context(), backup, path, true, sqlite.Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, kept := r.Manifest, r.Kept
			if renamed {
				if kept = first; r.Kept != "" {
					t.Errorf("kept as %s, too", r.Kept)
				}
			}
			if at := newestAt(t, kept); at != want {
				t.Errorf("what is kept is at %v, it was at %v", at, want)
			}
			if at := newestAt(t, path); at != (backend.Position{Clock: m.Clock, Mark: m.Mark}) {
				t.Errorf("at %v, the backup is %v", at, m)
			}
		})
	}
}

// TestRestoreKeepsPermissions: programs of other users that share a database keep their access.
func TestRestoreKeepsPermissions(t *testing.T) {
	path, backup, _ := backedUp(t)
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), backup, path, true, sqlite.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v: it was 0660", info.Mode(), err)
	}
}

// TestRestoreOfANewerProgram: a database whose id cannot be read is not replaced, unless its file is missing or
// damaged.
func TestRestoreOfANewerProgram(t *testing.T) {
	_, backup, _ := backedUp(t)
	path := filepath.Join(t.TempDir(), "other.db")
	closeStore(t, openAt(t, path))
	if err := sqlite.Script(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), backup, path, true, sqlite.Options{}, nil); !fault.Is(err, fault.Version) {
		t.Errorf("a database of a newer program was replaced, though it may be another one: %v", err)
	}
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	if r, err := sqlite.Restore(t.Context(), backup, path, true, sqlite.Options{}, nil); err != nil || r.Kept == "" {
		t.Errorf("in the place of a damaged one: %+v, %v", r, err)
	}
}

// TestRestoreBesideOthers: a database that is created while the backup is copied stays as it is.
func TestRestoreBesideOthers(t *testing.T) {
	_, backup, _ := backedUp(t)
	path := filepath.Join(t.TempDir(), "new.db")
	var other *sqlite.Store
	_, err := sqlite.Restore(t.Context(), backup, path, false, sqlite.Options{}, func(string, int64, int64) {
		if other == nil {
			other = openAt(t, path)
			if err := addKeyword(t.Context(), other, "mine"); err != nil {
				t.Error(err)
			}
		}
	})
	defer other.Close()
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a database was replaced without replace: %v", err)
	}
	if report, err := other.Check(t.Context(), nil); err != nil || len(report.Damage) > 0 || report.Counts.Keywords != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestPlace: if a file cannot replace the database, the database stays in its place, or, if another database has
// taken that place, under the name where it is kept.
func TestPlace(t *testing.T) {
	path, _, want := killed(t)
	kept, file := path+".kept", path+".new"
	if err := sqlite.Place(file, path, kept); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a file that is missing: %v", err)
	}
	if at := newestAt(t, path); at != want {
		t.Errorf("at %v, it was at %v", at, want)
	}
	closeStore(t, openAt(t, file))
	if err := sqlite.Place(file, path, ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("in the place of another one: %v", err)
	}
	if left, _ := filepath.Glob(kept + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
