package figures

import (
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/measure"
)

func TestTable(t *testing.T) {
	dir := t.TempDir()
	write := func(file string, figures ...measure.Figure) {
		t.Helper()
		r := measure.Report{Name: "x", Command: "command of " + file, Commit: "c0ffee1", Load: "0.10 0.20 0.30", Figures: figures}
		if err := r.WriteFile(filepath.Join(dir, file+".json")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(dir); err == nil {
		t.Error("an empty directory was taken")
	}
	for file, rows := range map[string]float64{"import.1": 30_000, "import.2": 50_000, "import.3": 60_000} {
		write(file, measure.Figure{Name: "rows", Value: rows})
	}
	least, most := 70.0, 90.0
	write("store", measure.Figure{Name: "search median", Value: 80, Least: &least, Most: &most})
	all, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	missed, err := all.Write(&b)
	if err != nil || missed != 1 {
		t.Errorf("%d targets missed, want 1; %v", missed, err)
	}
	for _, want := range []string{
		"| import of an Editor file | 50,000 rows/s | 30,000 to 60,000 | ≥ 40,000 | met |",
		"| search of one slave, one core: median | 80 µs | 70 to 90 | ≤ 60 | **missed** |",
		"| import | `command of import.1` | 3 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}

// TestLines checks that no two lines are the same.
func TestLines(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, l := range lines {
		if seen[[2]string{l.group, l.figure}] || l.what == "" || l.atLeast > 0 && l.atMost > 0 {
			t.Errorf("line %+v", l)
		}
		seen[[2]string{l.group, l.figure}] = true
	}
}
