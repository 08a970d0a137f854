package sqlite

import (
	"path/filepath"
	"testing"
)

// TestDurable checks the settings on which the promise of Commit depends.
func TestDurable(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "ads.db"))
	c := borrow(t, s)
	for sql, want := range map[string]int64{
		"PRAGMA synchronous":  2, // FULL: the write-ahead log is synced by every commit
		"PRAGMA foreign_keys": 1,
		"SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'": 1,
	} {
		if n, err := c.number(sql); err != nil || n != want {
			t.Errorf("%s: %d, want %d; %v", sql, n, want, err)
		}
	}
}
