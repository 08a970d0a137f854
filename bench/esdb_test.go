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

// TestESDB: the command writes its report and its page, with a verdict for each of the
// paper's figures; even in this coarse simulation, dynamic hashing reaches more than
// hashing.
func TestESDB(t *testing.T) {
	dir := t.TempDir()
	report, page := filepath.Join(dir, "esdb.json"), filepath.Join(dir, "esdb.html")
	c := ESDBCommand()
	var out bytes.Buffer
	c.SetArgs([]string{"--duration", "2s", "--each", "200", "--json", report, "--html", page})
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(raw))
	for _, figure := range []string{"figure 10 a:", "figure 10 b:", "figure 11 a:", "figure 11 b:", "figure 12 a:", "figure 12 b:", "figure 13 a:", "figure 13 c:", "figure 13 d:", "figure 14:", "figure 16, small tenants:", "figure 16, large tenants:"} {
		if !strings.Contains(out.String(), figure) {
			t.Errorf("nothing about %s", figure)
		}
	}
	r, err := measure.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	at := func(policy string) float64 {
		f, ok := r.Find(policy + ", generators wait, θ 1.5, 100,000 tenants, 160,000 writes/s: throughput")
		if !ok {
			t.Fatalf("nothing about %s", policy)
		}
		return f.Value
	}
	if hashing, double, dynamic := at("hashing"), at("double hashing"), at("dynamic"); hashing > 0.6*dynamic || dynamic < 0.8*double {
		t.Errorf("writes/s: hashing %.0f, double hashing %.0f, dynamic %.0f", hashing, double, dynamic)
	}
}

// TestESDBRefuses: invalid flags are refused before anything runs.
func TestESDBRefuses(t *testing.T) {
	for _, args := range [][]string{{"--duration", "0s"}, {"--each", "0"}, {"--html", "/nowhere/x"}, {"more"}} {
		c := ESDBCommand()
		c.SetArgs(args)
		c.SetOut(new(bytes.Buffer))
		c.SetErr(new(bytes.Buffer))
		if err := c.Execute(); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
