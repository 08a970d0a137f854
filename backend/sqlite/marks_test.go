package sqlite

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

// unmarked makes a database as programs before marks did, with base in it.
func unmarked(t testing.TB, sql string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	o := Options{Create: true}.withDefaults()
	if err := migrate(t.Context(), path, o, 2); err != nil {
		t.Fatal(err)
	}
	if err := Script(t, path, base+sql); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOlderDatabasesGetMarks: the id that a database has stays, its clock goes
// on, and what it still has of the log is marked.
func TestOlderDatabasesGetMarks(t *testing.T) {
	const entries = 16 // that base leaves
	for _, c := range []struct {
		name, sql, id string
		compacted     uint64
	}{
		{"named", "INSERT INTO control VALUES ('database', CAST('ABCDEFGHIJKLMNOPQRSTUVWXYZ' AS BLOB))", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0},
		{"not named", "", "", 0},
		{"compacted", "DELETE FROM change_log WHERE clock <= 3", "", 3},
		{"compacted to nothing", "DELETE FROM change_log", "", entries},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := unmarked(t, c.sql)
			old := opened(t, path)
			if id, err := old.ID(t.Context()); err != nil || c.id != "" && id != c.id || len(id) < 20 {
				t.Errorf("id %q, want %q; %v", id, c.id, err)
			}
			n, err := old.Newest(t.Context())
			if err != nil || n.Clock != entries || (n.Mark == 0) != (c.compacted == entries) {
				t.Errorf("newest %v, %v", n, err)
			}
			changes, err := old.Changes(t.Context(), backend.Position{Clock: c.compacted, Mark: 12345}, 100)
			if c.compacted == 0 { // nothing is before the first change
				if !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
				changes, err = old.Changes(t.Context(), backend.Position{}, 100)
			}
			if err != nil || len(changes) != entries-int(c.compacted) {
				t.Errorf("%v, %v", changes, err)
			}
			for _, c := range changes {
				if c.Mark == 0 {
					t.Errorf("no mark in %+v", c)
				}
			}
			if err := write(t.Context(), old, 0, 1); err != nil {
				t.Fatal(err)
			}
			if n, err := old.Newest(t.Context()); err != nil || n.Clock != entries+1 || n.Mark == 0 {
				t.Errorf("after a change %v, %v", n, err)
			}
		})
	}
}

// TestOtherProgramsMark: a change by plain SQL has a mark, too, and the last one
// that is deleted by hand is kept.
func TestOtherProgramsMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	s := opened(t, path)
	if err := Script(t, path, base+"UPDATE campaign SET languages = 'cs'"); err != nil {
		t.Fatal(err)
	}
	changes, err := s.Changes(t.Context(), backend.Position{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	marks := make(map[uint64]bool)
	for _, c := range changes {
		marks[c.Mark] = true
	}
	if len(marks) != len(changes) || marks[0] {
		t.Errorf("%v", changes)
	}
	if err := Script(t, path, "DELETE FROM change_log"); err != nil {
		t.Fatal(err)
	}
	last := changes[len(changes)-1]
	if n, err := s.Newest(t.Context()); err != nil || n != (backend.Position{Clock: last.Clock, Mark: last.Mark}) {
		t.Errorf("%v, %v; want %+v", n, err, last)
	}
}

// TestMarksOfThisProgramAreOfTheSystem: the marks come from the function that
// asks the system, not from SQLite's generator, which is seeded once.
func TestMarksOfThisProgramAreOfTheSystem(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "ads.db"))
	c := borrow(t, s)
	// What SQLite itself offers under the name is gone from this connection:
	// the list has each function once for each owner.
	n, err := c.number("SELECT count(*) FROM pragma_function_list WHERE name = 'random' AND NOT builtin")
	if err != nil || n != 1 {
		t.Errorf("%d functions of this program, %v", n, err)
	}
}

// TestMarkNeverOverflows evaluates the default with the extremes of random().
func TestMarkNeverOverflows(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "ads.db"))
	c := borrow(t, s)
	for _, r := range []int64{math.MinInt64, 0, math.MaxInt64} {
		for _, day := range []string{"'now'", "'4000-01-01'"} {
			sql := fmt.Sprintf("SELECT typeof(? / 2 + CAST(julianday(%s) * 86400000 AS INTEGER) * 16384 | 1) = 'integer'", day)
			if n, err := c.number(sql, r); err != nil || n != 1 {
				t.Errorf("%d on %s: %d, %v", r, day, n, err)
			}
		}
	}
}
