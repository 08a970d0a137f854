package sqlite

import (
	"path/filepath"
	"testing"

	"adshard/backend"
)

// TestUnsoundLearned: an invalid number for a learned quality is rejected when another program writes it. If a row
// has one nevertheless, reading its group reports damage.
func TestUnsoundLearned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	s := opened(t, path)
	if err := stock(t.Context(), s, 1_000_000); err != nil {
		t.Fatal(err)
	}
	for _, learned := range []string{"16", "11", "-1", "4096"} {
		set := "UPDATE keyword SET learned = " + learned + " WHERE group_id = 4"
		if err := Script(t, path, set); err == nil {
			t.Errorf("%s is taken", learned)
		}
		if err := Script(t, path, "PRAGMA ignore_check_constraints = ON; "+set); err != nil {
			t.Fatal(err)
		}
		expectDamage(t, s, backend.KindGroup, 4)
		if err := Script(t, path, "UPDATE keyword SET learned = 0"); err != nil {
			t.Fatal(err)
		}
		if d := mustCheck(t, s).Damage; len(d) > 0 {
			t.Errorf("set to 0 again: %v", d[0])
		}
	}
}
