package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"adshard/internal/sizing"
)

// TestGrid measures small grids of real processes.
func TestGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	dir, db := world(t)
	r, err := do(t, GridCommand(), "--adshard", program(t), "--db", db, "--queries", filepath.Join(dir, "queries.txt"),
		"--grids", "2x1,1x2", "--turns", "1", "--duration", "300ms", "--rate", "50", "--closed", "4")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []string{"2x1", "1x2"} {
		for _, name := range []string{" closed: answers", " alone: median", " open: p99", " closed: generator"} {
			if v, ok := r.Find(g + name); !ok || v.Value <= 0 {
				t.Errorf("%s%s: %+v", g, name, v)
			}
		}
		if v, ok := r.Find(g + " alone: not complete"); !ok || v.Value != 0 {
			t.Errorf("%s: %g requests without a complete answer", g, v.Value)
		}
	}
}

// TestReferenceIsMeasured checks that the figures in the product are those that the command
// computes from the reports in docs.
func TestReferenceIsMeasured(t *testing.T) {
	const reports = "../docs/experiments/size-"
	out := filepath.Join(t.TempDir(), "figures.json")
	r, err := do(t, SizingCommand(), "--grid", reports+"grid.json", "--curve", reports+"curve.json", "--out", out, "--cores", "2",
		"--searches", reports+"searches-100000.json,"+reports+"searches-1000000.json,"+reports+"searches-10000000.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"2x2: answers, closed loop, measured", "2x2: answers, closed loop, predicted"} {
		if v, ok := r.Find(name); !ok || v.Value <= 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sizing.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	want, err := sizing.Reference()
	if err != nil {
		t.Fatal(err)
	}
	got.Machine, got.Date = want.Machine, want.Date // those of this run
	if a, b := text(t, got), text(t, want); a != b {
		t.Errorf("the reports give\n%s\nnot internal/sizing/reference.json:\n%s", a, b)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
