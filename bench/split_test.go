package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/measure"
	"adshard/bench/page/pagetest"
)

// TestSplit: the command writes its report and its page, with a verdict for each of the
// paper's figures. The two nodes keep every record where it belongs, and the split by
// load divides the requests that the split by size leaves on one node.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	report, page := filepath.Join(dir, "split.json"), filepath.Join(dir, "split.html")
	c := SplitCommand()
	var out bytes.Buffer
	c.SetArgs([]string{"--seeds", "5", "--records", "5000", "--operations", "20000", "--rounds", "1", "--work", dir, "--json", report, "--html", page})
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(raw))
	r, err := measure.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"figure 1:", "figure 2:", "figure 3, n = 2:", "figure 3, n = 4:", "figure 4:", "figure 5, n = 2 and 4:", "figure 5, n = 8:", "figure 6a:", "figures 6b and 7:", "figures 6 and 7, hashed keys:"} {
		if !strings.Contains(out.String(), where) {
			t.Errorf("nothing about %s", where)
		}
	}
	for name, within := range map[string][2]float64{
		"popularity order, split by size: expected beside one node": {1, 1.15},
		"popularity order, split by load: expected beside one node": {1.8, 2},
		"hashed order, split by size: expected beside one node":     {1.4, 2},
		"hashed order, split by load: expected beside one node":     {1.6, 2},
	} {
		if f, ok := r.Find(name); !ok || f.Value < within[0] || f.Value > within[1] {
			t.Errorf("%s: %v", name, f.Value)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "adbench-split-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSplitRefuses: invalid flags are refused before anything runs.
func TestSplitRefuses(t *testing.T) {
	for _, args := range [][]string{{"--seeds", "0"}, {"--records", "5"}, {"--operations", "1"}, {"--rounds", "0"}, {"--html", "/nowhere/x"}, {"more"}} {
		c := SplitCommand()
		c.SetArgs(args)
		c.SetOut(new(bytes.Buffer))
		c.SetErr(new(bytes.Buffer))
		if err := c.Execute(); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
