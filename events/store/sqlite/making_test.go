package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store"
	"adshard/events/store/sqlite"
	"adshard/events/store/storetest"
)

// asKilled copies the files of a database as a program leaves them that is killed now.
func asKilled(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "events.db")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		text, err := os.ReadFile(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestKilledWhileTablesAreMade: whichever statement of making the tables, or of bringing those of an older format up to date, a kill
// comes before, what is left is what was there before: readers refuse it, and the next program makes of it what the
// killed one would have made.
func TestKilledWhileTablesAreMade(t *testing.T) {
	for name, script := range map[string]string{"new": "", "format 1": format1, "format 2": format2} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.db")
			if name == "format 2" {
				if _, err := open(t, path).Add(t.Context(), []store.Event{storetest.EventOf(1, 0)}); err != nil {
					t.Fatal(err)
				}
			}
			scripted(t, path, script)
			var left []string
			s, err := sqlite.OpenInSteps(t.Context(), path, func() { left = append(left, asKilled(t, path)) })
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want, err := s.Sums(t.Context(), 0)
			if err != nil || len(left) < 2 || len(want) == 0 && script != "" {
				t.Fatalf("%d steps, %v, %v", len(left), want, err)
			}
			for n, path := range left {
				if r, err := sqlite.OpenReader(t.Context(), path); err == nil {
					r.Close()
					t.Errorf("before step %d a reader takes it for whole", n)
				}
				again := open(t, path)
				if got, err := again.Sums(t.Context(), 0); err != nil || !slices.Equal(got, want) {
					t.Errorf("before step %d: %v %v, want %v", n, got, err, want)
				}
				if err := sqlite.Check(t.Context(), path, "one"); err != nil {
					t.Errorf("before step %d: %v", n, err)
				}
			}
		})
	}
}

func scripted(t *testing.T, path, script string) {
	t.Helper()
	c, err := zs.OpenConn(path)
	if err == nil {
		err = errors.Join(sqlitex.ExecuteScript(c, script, nil), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
