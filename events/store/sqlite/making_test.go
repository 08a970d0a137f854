package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store/sqlite"
	"adshard/events/store/storetest"
)

// asKilled copies the files of a database as a program that is killed now would leave them.
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

// TestKilledWhileTablesAreMade kills the program before each statement that creates or updates the tables. It tests that
// everything is then as before, and that the next program makes what the killed one would have made.
func TestKilledWhileTablesAreMade(t *testing.T) {
	for name, isNext := range map[string]bool{"new": false, "next format": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.db")
			if isNext {
				storetest.Full(t, open(t, path))
			}
			var left []string
			s, err := sqlite.OpenInSteps(t.Context(), path, isNext, func() { left = append(left, asKilled(t, path)) })
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := storetest.ContentsOf(t, s)
			if len(left) < 2 || isNext == (len(want.Sums) == 0) {
				t.Fatalf("%d steps, %v", len(left), want)
			}
			for n, path := range left {
				r, err := sqlite.OpenReader(t.Context(), path)
				if err == nil {
					r.Close()
				}
				if isNext != (err == nil) {
					t.Errorf("before step %d a reader says: %v", n, err)
				}
				again, err := sqlite.OpenInSteps(t.Context(), path, isNext, func() {})
				if err != nil {
					t.Fatal(err)
				}
				got := storetest.ContentsOf(t, again)
				if again.Close(); !isNext {
					got.ID = want.ID
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("before step %d: %+v\nwant %+v", n, got, want)
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
