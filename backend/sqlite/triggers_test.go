package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
)

// base is a small database written by hand.
const base = `
INSERT INTO advertiser (name) VALUES ('A');
INSERT INTO campaign (advertiser_id, name) VALUES (1, 'C');
INSERT INTO ad_group (campaign_id, name) VALUES (1, 'G'), (1, 'H');
INSERT INTO keyword (group_id, words, type, text) VALUES (1, 'a', 2, 'A'), (1, 'b', 2, 'B'), (2, 'a', 0, 'A');
INSERT INTO group_negative (group_id, words, type, text) VALUES (1, 'free', 2, 'free');
INSERT INTO campaign_negative (campaign_id, words, type, text) VALUES (1, 'used', 2, 'used');
INSERT INTO ad (group_id, headlines, descriptions) VALUES (2, '["x"]', '[]');`

// baseNow is base with what schema 7 did not have.
const baseNow = base + `
INSERT INTO advertiser_negative (advertiser_id, words, type, text) VALUES (1, 'never', 2, 'never');`

// byHand creates a database with base and more in plain SQL. It has no sums, and notes no version of words.
func byHand(t testing.TB, sql string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	if err := migrate(t.Context(), path, Options{Create: true}.withDefaults(), 0); err != nil {
		t.Fatal(err)
	}
	if err := Script(t, path, base+sql); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOtherPrograms writes plain SQL without foreign keys, as a shell does. The log and the ids must be right
// nevertheless.
func TestOtherPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for _, c := range []struct{ name, sql, want string }{
		{"insert a keyword", "INSERT INTO keyword (group_id, words, type, text) VALUES (2, 'n', 2, 'N')", "3:2"},
		{"update keywords of two groups", "UPDATE keyword SET bid = 5 WHERE words = 'a'", "3:1 3:2"},
		{"delete a keyword", "DELETE FROM keyword WHERE words = 'b'", "3:1"},
		{"change an ad", "UPDATE ad SET enabled = 0", "3:2"},
		{"delete a negative", "DELETE FROM group_negative", "3:1"},
		{"rename a group", "UPDATE ad_group SET name = 'x' WHERE id = 2", "3:2"},
		{"advertiser negative", "UPDATE advertiser_negative SET enabled = 0", "1:1"},
		{"delete an advertiser's negative", "DELETE FROM advertiser_negative", "1:1"},
		{"campaign negative", "UPDATE campaign_negative SET enabled = 0", "2:1"},
		{"budget", "UPDATE campaign SET budget_exhausted = 1", "2:1"},
		{"languages", "UPDATE campaign SET languages = 'cs en', enabled = 0", "2:1 3:1 3:2"},
		{"advertiser", "UPDATE advertiser SET enabled = 0", "1:1"},
		{"delete a group", "DELETE FROM ad_group WHERE id = 1", "3:1-"},
		{"delete an advertiser", "DELETE FROM advertiser", "3:1- 3:2- 2:1- 1:1-"},
		{"replace a keyword", "INSERT OR REPLACE INTO keyword (group_id, words, type, text) VALUES (1, 'a', 2, 'AA')", "3:1"},
		{"a rolled back change", "SAVEPOINT s1; DELETE FROM advertiser; ROLLBACK TO s1; RELEASE s1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ads.db")
			s := opened(t, path)
			if err := Script(t, path, baseNow); err != nil {
				t.Fatal(err)
			}
			clock, err := s.clock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := Script(t, path, c.sql); err != nil {
				t.Fatal(err)
			}
			if got := logged(t, s, clock); got != c.want {
				t.Errorf("logged %s, want %s", got, c.want)
			}
			if left := leftovers(t, path); left != 0 {
				t.Errorf("%d rows have no owner", left)
			}
		})
	}
}

// logged returns the log after a clock, without repetitions, as kind:id, with "-" for removed entities.
func logged(t testing.TB, s *Store, after uint64) string {
	t.Helper()
	changes, err := s.Changes(t.Context(), backend.Position{Clock: after}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range changes {
		e := fmt.Sprintf("%d:%d", c.Kind, c.ID)
		if c.Removed {
			e += "-"
		}
		if len(list) == 0 || list[len(list)-1] != e {
			list = append(list, e)
		}
	}
	return strings.Join(list, " ")
}

func leftovers(t testing.TB, path string) int64 {
	t.Helper()
	c, err := connect(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n, err := c.number("SELECT count(*) FROM pragma_foreign_key_check")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestIDsOfOtherPrograms mixes writes by hand with a transaction.
func TestIDsOfOtherPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	s := opened(t, path)
	if err := Script(t, path, base); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 0, 2); err != nil {
		t.Fatal(err)
	}
	if err := Script(t, path, "DELETE FROM keyword; INSERT INTO keyword (group_id, words, type, text) VALUES (3, 'z', 2, 'z')"); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if id, err := c.number("SELECT id FROM keyword"); err != nil || id != 6 {
		t.Errorf("id %d, want 6: 1 to 3 by hand, 4 and 5 by the transaction; %v", id, err)
	}
	for _, sql := range []string{
		"INSERT INTO keyword (group_id, words, type, id, text) VALUES (3, 'y', 2, 1, 'y')",
		"UPDATE keyword SET id = 77",
		"UPDATE keyword SET group_id = 1",
		"UPDATE ad_group SET campaign_id = 9 WHERE id = 1",
		"UPDATE campaign SET id = 9",
		"UPDATE advertiser SET id = 9",
	} {
		if err := Script(t, path, sql); err == nil {
			t.Errorf("%s was done", sql)
		}
	}
}

// TestLogDeletedByHand: reading changes that are missing from the log returns a stale error.
func TestLogDeletedByHand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	s := opened(t, path)
	if err := Script(t, path, base+"DELETE FROM change_log WHERE clock = 3"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes(t.Context(), backend.Position{Clock: 2}, 100); err == nil {
		t.Error("a missing change was not noticed")
	}
	if _, err := s.Changes(t.Context(), backend.Position{Clock: 3}, 100); err != nil {
		t.Error(err)
	}
}
