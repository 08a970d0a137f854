package sqlite

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend/backendtest"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden.txt")

// TestSumsArePermanent: entities have the same checksums as in earlier versions of the program, so that databases stay
// valid when properties are added.
func TestSumsArePermanent(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	backendtest.Everything(t, s)
	var b strings.Builder
	for _, table := range []string{"advertiser", "campaign", "ad_group"} {
		err := borrow(t, s).query("SELECT name, sum FROM "+table+" ORDER BY id", func(st *zs.Stmt) error {
			fmt.Fprintf(&b, "%s %s %016x\n", table, st.ColumnText(0), uint64(st.ColumnInt64(1)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if *rewrite {
		if err := os.WriteFile("testdata/golden.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil || b.String() != string(want) {
		t.Errorf("the checksums are\n%swant\n%s(%v)", b.String(), want, err)
	}
	if report := mustCheck(t, s); len(report.Damage) > 0 {
		t.Error(report.Damage)
	}
}
