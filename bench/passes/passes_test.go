package passes

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"adshard/bench/page/pagetest"
)

// TestSpread checks the measures of how unequal slaves are, over a pass and per query.
func TestSpread(t *testing.T) {
	p := Pass{Master: []float64{1, 1}, Slaves: [][]float64{{4, 0}, {0, 4}}}
	if p.Spread() != 1 || p.Slowest() != 2 {
		t.Errorf("each slave answers one query: %v, %v", p.Spread(), p.Slowest())
	}
	p = Pass{Master: make([]float64, 20), Slaves: [][]float64{make([]float64, 20), make([]float64, 20)}}
	for q := range p.Master {
		p.Slaves[0][q], p.Slaves[1][q] = 1, 1
	}
	if p.Slaves[0][7] = 1000; p.Spread() != 1 || p.Slowest() != 1 {
		t.Errorf("one query waited: %v, %v", p.Spread(), p.Slowest())
	}
	p.Master, p.Slaves = []float64{1, 1}, [][]float64{{3, 3}, {1, 1}}
	if math.Abs(p.Spread()-1.5) > 1e-9 || math.Abs(p.Slowest()-1.5) > 1e-9 {
		t.Errorf("one does three quarters: %v, %v", p.Spread(), p.Slowest())
	}
}

// TestPage: the page has all of the thesis' figures, under their numbers.
func TestPage(t *testing.T) {
	r := &Report{Command: "adbench passes", Commit: "abc", Groups: 10, Keywords: 340}
	pass := func(n int) Pass {
		return Pass{Number: n, Master: []float64{1, 2, 3}, Slaves: [][]float64{{.1, .2, .3}, {.1, .1, .1}, {.2, .2, .2}}, MaxOverMean: 1.1}
	}
	for _, strategy := range []string{"original", "random", "weighted-move"} {
		for _, workload := range []string{"single", "production"} {
			o := Outcome{Strategy: strategy, Workload: workload, Note: "a note", Passes: []Pass{pass(1)}}
			if strategy == "weighted-move" {
				o.Passes = append(o.Passes, pass(3), pass(5), pass(100))
			}
			r.Runs = append(r.Runs, o)
		}
	}
	var out bytes.Buffer
	if err := r.WritePage(&out); err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, out.String())
	for _, f := range []string{"8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "8.9", "8.10", "8.11", "8.12", "8.13", "8.14", "8.15, 8.17", "8.16", "8.18"} {
		if !strings.Contains(out.String(), "("+f+")") {
			t.Errorf("no figure %s", f)
		}
	}
	if n := len(r.Rows()); n != 12 {
		t.Errorf("%d rows", n)
	}
}

// TestRuns: a row for several runs has the middle value with the least and the most. A strategy
// that moved nothing in any of them is not tested, and the page shows the reason that it gave.
func TestRuns(t *testing.T) {
	r := &Report{Command: "adbench passes", Commit: "abc"}
	for run, moved := range []uint64{0, 7, 0} {
		pass := func(moved uint64) []Pass {
			ms := float64(run + 1)
			return []Pass{{Number: 100, Master: []float64{ms}, Slaves: [][]float64{{ms}, {ms}}, Moved: moved, Why: "rests while max/mean is at most 1.1"}}
		}
		r.Runs = append(r.Runs, Outcome{Strategy: "weighted-move", Order: "id", Workload: "single", Run: run + 1, Passes: pass(0)},
			Outcome{Strategy: "slicer", Order: "id", Workload: "single", Run: run + 1, Passes: pass(moved)},
			Outcome{Strategy: "random:slices=9", Order: "id", Workload: "single", Run: run + 1, Passes: pass(0)})
	}
	rows := r.Rows()
	if len(rows) != 3 || rows[0][0] != "weighted-move by id, single, 100" || rows[0][2] != "3" || rows[0][7] != "2 (1 – 3)" || !slices.Contains(rows[1], "0 (0 – 7)") {
		t.Errorf("%q", rows)
	}
	var untested []string
	for _, line := range r.verdict() {
		if strings.HasPrefix(line, "Not tested") {
			untested = append(untested, line)
		}
	}
	if len(untested) != 1 || !strings.Contains(untested[0], "weighted-move by id, single, 100") || !strings.Contains(untested[0], "at most 1.1") {
		t.Errorf("not tested: %q", untested)
	}
}
