package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/balance"
	"adshard/balance/strategy/compared"
	"adshard/bench"
	"adshard/bench/compare"
)

var coolest = Coolest{compared.ConsistentFixed{Ranges: 256, Seed: 1}}

// comparison runs this adbench, with a custom strategy, on a small corpus.
func comparison(t *testing.T, own balance.Strategy, args ...string) (c compare.Comparison, shown string, err error) {
	t.Helper()
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "c.json")
	command := bench.Command(own)
	command.SetOut(&out)
	command.SetErr(&out)
	command.SetArgs(append([]string{"balance", "--keywords", "1000", "--data", "extract", "--order", "hash", "--json", file}, args...))
	if err := command.ExecuteContext(t.Context()); err != nil {
		return c, "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return c, out.String(), json.Unmarshal(text, &c)
}

// TestStudy: the strategy comes to rest more even than it began.
func TestStudy(t *testing.T) {
	c, _, err := comparison(t, coolest, "--study", "--workload", "real", "--study-slaves", "4", "--strategies", "consistent-fixed,coolest")
	if err != nil || len(c.Study) != 3 {
		t.Fatalf("%v: %+v", err, c.Study)
	}
	fixed, own := c.Study[1], c.Study[2]
	t.Logf("max/mean %.3f and %.3f, the bound is %.3f", fixed.MaxOverMean, own.MaxOverMean, own.Bound)
	if own.Placement != "coolest" || own.MaxOverMean > fixed.MaxOverMean-0.01 {
		t.Errorf("max/mean %.3f, consistent-fixed has %.3f", own.MaxOverMean, fixed.MaxOverMean)
	}
}

// wrong proposes a move that no strategy may propose.
type wrong struct{ Coolest }

func (wrong) Iterate(balance.Input) (balance.Proposal, error) {
	return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpSwitch, Slice: 1}}}, nil
}

// TestSimulated: the product's own balancer runs the strategy and refuses nothing;
// what it refuses of another strategy is shown.
func TestSimulated(t *testing.T) {
	for _, own := range []balance.Strategy{coolest, wrong{coolest}} {
		c, shown, err := comparison(t, own, "--simulate", "--slaves", "4", "--duration", "20s", "--interval", "2s", "--strategies", "coolest")
		if err != nil || len(c.Runs) != 1 || c.Runs[0].Strategy != "coolest" {
			t.Fatalf("%v: %+v", err, c.Runs)
		}
		_, isWrong := own.(wrong)
		if said := strings.Contains(shown, "a strategy may only split, merge and start to move slices"); said != isWrong || !isWrong && strings.Contains(shown, "trouble") {
			t.Errorf("%T shows\n%s", own, shown)
		}
	}
}

// TestNotInRealClusters: the error says where a custom strategy can run, and which
// names are known.
func TestNotInRealClusters(t *testing.T) {
	for arg, want := range map[string]string{"coolest": "add --simulate or --study", "hottest": "and your own: [coolest]"} {
		if _, _, err := comparison(t, coolest, "--strategies", arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--strategies %s: %v", arg, err)
		}
	}
}
