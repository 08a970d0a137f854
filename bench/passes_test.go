package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/passes"
)

// TestPasses: each query of a recorded pass has its time at the master and at each slave, and a
// complete answer.
func TestPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "p.json")
	var out bytes.Buffer
	c := PassesCommand()
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--adshard", program(t), "--keywords", "1000", "--data", "extract", "--strategies", "weighted-move",
		"--workload", "production", "--slaves", "2", "--order", "id", "--pause", "1ms", "--passes", "3,1", "--json", file})
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r passes.Report
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Runs) != 1 || len(r.Runs[0].Passes) != 2 {
		t.Fatalf("%v: %s", err, out.String())
	}
	for i, p := range r.Runs[0].Passes {
		if p.Number != []int{1, 3}[i] || len(p.Master) != passes.Each || len(p.Slaves) != 2 || p.Incomplete != 0 {
			t.Errorf("pass %d: %+v", i, p)
		}
		for _, s := range p.Slaves {
			for q, v := range s {
				if len(s) != passes.Each || v <= 0 {
					t.Errorf("pass %d, query %d of %d: %v ms", p.Number, q, len(s), v)
				}
			}
		}
	}
	c.SetArgs([]string{"--workload", "real"})
	if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "single or production") {
		t.Errorf("another workload: %v", err)
	}
	c.SetArgs([]string{"--strategies", "original", "--order", "hash"})
	if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "needs the order advertiser") {
		t.Errorf("original by hash: %v", err)
	}
}
