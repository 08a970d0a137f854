package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"adshard/balance"
	"adshard/internal/node/admission"
	"adshard/internal/sizing"
)

// TestSize runs the commands of testdata/size; -rewrite replaces the expected outputs. FIGURES is a file of figures
// that do not change when those of the reference do.
func TestSize(t *testing.T) {
	datadriven.RunTest(t, "testdata/size", func(t *testing.T, d *datadriven.TestData) string {
		status, out, errOut := run(t, "adshard", strings.Fields(strings.ReplaceAll(d.Input, "FIGURES", "testdata/figures.json"))...)
		if status != exitDone {
			out += fmt.Sprintf("exit status %d\n", status)
		}
		return out + errOut
	})
}

// TestSizeKnowsTheLimits checks that no grid is proposed that a balancer would refuse.
func TestSizeKnowsTheLimits(t *testing.T) {
	if sizing.MaxReplicas != balance.MaxReplicas || sizing.MaxMachines > admission.MaxSlaves {
		t.Errorf("grids of %d replicas and %d machines; a balancer takes %d and %d", sizing.MaxReplicas, sizing.MaxMachines, balance.MaxReplicas, admission.MaxSlaves)
	}
}

// TestSizeInDocs compares the examples of docs/sizing.md with what the commands print.
func TestSizeInDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/sizing.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, block := range strings.Split(string(page), "```") {
		command, want, ok := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		command, is := strings.CutPrefix(command, "$ adshard ")
		if !ok || !is {
			continue
		}
		examples++
		var out bytes.Buffer
		if status := Main(context.Background(), "adshard", strings.Fields(command), Streams{In: strings.NewReader(""), Out: &out, Err: &out}); status != exitDone {
			t.Errorf("adshard %s: exit status %d: %s", command, status, &out)
		}
		if out.String() != want {
			t.Errorf("docs/sizing.md shows another output of adshard %s than:\n%s", command, &out)
		}
	}
	if examples < 2 {
		t.Errorf("only %d examples found", examples)
	}
}
