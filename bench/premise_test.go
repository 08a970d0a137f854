package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/premise"
)

// TestPremise: each strategy is measured with each model, on clusters that use the
// model to score.
func TestPremise(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	file := filepath.Join(t.TempDir(), "p.json")
	var out bytes.Buffer
	c := PremiseCommand()
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--adshard", program(t), "--keywords", "1000", "--data", "extract", "--trees", "-1,20", "--strategies", "fixed,random", "--slaves", "2",
		"--share", "0.5", "--exact", "--rounds", "1", "--before", "200ms", "--after", "400ms", "--capacity", "200ms", "--json", file})
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r premise.Report
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Rows) != 4 || len(r.Costs) != 2 {
		t.Fatalf("%v: %s", err, out.String())
	}
	if r.Costs[0].Micros != 0 || r.Costs[1].Micros <= 0 || r.Costs[1].Rate <= 0 {
		t.Errorf("%+v", r.Costs)
	}
	for _, row := range r.Rows {
		if row.Error != "" || row.Asked <= 0 || row.P50 <= 0 || row.P99 < row.P50 || len(row.Processor) != 2 || row.Strategy == premise.Fixed && row.Moves != 0 {
			t.Errorf("%+v", row)
		}
	}
	for _, refused := range [][]string{
		{"--trees", "-2", "-1 for none"}, {"--share", "0.01", "0.1 to 1"}, {"--strategies", "original", "needs the order advertiser"},
		{"--queries", "x", "has no shift"}, {"--rounds", "0", "1 to 100"},
	} {
		c := PremiseCommand()
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetArgs(append([]string{"--order", "hash", "--strategies", "fixed"}, refused[:2]...))
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), refused[2]) {
			t.Errorf("%v: %v", refused, err)
		}
	}
}
