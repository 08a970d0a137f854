package sqlite

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"adshard/backend"
)

// TestOtherProgramsMark: a change by plain SQL has a mark, too, and the last mark is kept when its row is deleted by
// hand.
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

// TestMarksOfThisProgramAreOfTheSystem: the marks come from the operating system's random numbers, not from SQLite's
// generator, which is seeded only once.
func TestMarksOfThisProgramAreOfTheSystem(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "ads.db"))
	c := borrow(t, s)
	// SQLite's own function of this name is gone from this connection: the list has each function once for each
	// owner.
	n, err := c.number("SELECT count(*) FROM pragma_function_list WHERE name = 'random' AND NOT builtin")
	if err != nil || n != 1 {
		t.Errorf("%d functions of this program, %v", n, err)
	}
}

// TestMarkNeverOverflows evaluates the default of a mark with the extremes of random().
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
