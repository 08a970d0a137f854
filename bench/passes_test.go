package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
	c.SetArgs([]string{"--adshard", program(t), "--keywords", "1000", "--data", "extract", "--strategies", "random:slices=3",
		"--workload", "production", "--slaves", "2", "--order", "id", "--pause", "1ms", "--before", "1", "--passes", "3,1", "--json", file})
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
		if p.Number != []int{1, 3}[i] || len(p.Master) != passes.Each || len(p.Slaves) != 2 || p.Incomplete != 0 || p.Slices > 3 {
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
	c.SetArgs([]string{"--strategies", "random:slices"})
	if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "NAME:OPTION=VALUE") {
		t.Errorf("an option without a value: %v", err)
	}
}

// TestPassesRows: the strategy original is measured only by advertiser, the others in all named
// orders; a log that shifts is a different workload.
func TestPassesRows(t *testing.T) {
	f := passesFlags{strategies: []string{"original", "random:slices=250000"}, orders: []string{"hash", "id"}, workloads: []string{"single"}}
	var got []string
	for _, o := range f.rows() {
		got = append(got, o.Strategy+" "+o.Order)
	}
	if want := []string{"original advertiser", "random:slices=250000 hash", "random:slices=250000 id"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.keywords, f.data, f.seed = 1000, "extract", 1
	for _, w := range []string{"single", "production"} {
		now, _, err := f.targets(w, 1)
		if err != nil {
			t.Fatal(err)
		}
		if other, _, err := f.targets(w, 2); err != nil || slices.Equal(now, other) {
			t.Errorf("%s: before the shift the same queries were asked (%v)", w, err)
		}
	}
}
