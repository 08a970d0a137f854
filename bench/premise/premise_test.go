package premise

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/bench/measure"
	"adshard/bench/openloop"
	"adshard/bench/page/pagetest"
)

func rows(p99, incomplete float64, rounds int) (list []Row) {
	for i := range rounds {
		list = append(list, Row{Round: i + 1, P99: p99, Incomplete: incomplete})
	}
	return list
}

// TestJudge: a strategy is worth it, or worse, if it is so in each of three rounds.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		fixed, of []Row
		want      string
	}{
		"faster":                       {rows(100, 0, 3), rows(80, 0, 3), worth},
		"a little faster":              {rows(100, 0, 3), rows(81, 0, 3), undecided},
		"slower":                       {rows(100, 0, 3), rows(125, 0, 3), worse},
		"a little slower":              {rows(100, 0, 3), rows(124, 0, 3), undecided},
		"faster in two rounds":         {rows(100, 0, 3), append(rows(80, 0, 2), Row{Round: 3, P99: 100}), undecided},
		"two rounds":                   {rows(100, 0, 2), rows(10, 0, 2), undecided},
		"half as many incomplete":      {rows(500, 0.2, 3), rows(500, 0.1, 3), worth},
		"twice as many incomplete":     {rows(500, 0.2, 3), rows(100, 0.4, 3), worse},
		"faster, more incomplete":      {rows(500, 0.2, 3), rows(100, 0.3, 3), undecided},
		"slower, fewer incomplete":     {rows(100, 0.2, 3), rows(200, 0.15, 3), undecided},
		"a few incomplete count none":  {rows(100, 0.001, 3), rows(100, 0.009, 3), undecided},
		"few, and faster":              {rows(100, 0.001, 3), rows(80, 0.009, 3), worth},
		"not measured":                 {rows(100, 0, 3), nil, notTested},
		"fixed was not":                {nil, rows(100, 0, 3), notTested},
		"rounds are compared pairwise": {rows(100, 0, 3), []Row{{Round: 4}, {Round: 5}, {Round: 6}}, notTested},
	} {
		if got := judge(c.fixed, c.of); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestFill: unanswered requests count as incomplete, and slaves are compared by their processor
// time.
func TestFill(t *testing.T) {
	o := &openloop.Outcome{
		Latency: measure.NewLatencies(), Late: measure.NewLatencies(), Complete: 5, InTime: 4, Incomplete: 1, Overloaded: 2, Unsent: 2,
		Took: 2 * time.Second, ServerCPUs: []time.Duration{100 * time.Millisecond, 300 * time.Millisecond},
	}
	var row Row
	row.fill(o, 2*time.Second, 0.25)
	if row.Asked != 5 || row.InTime != 2 || row.Incomplete != 0.5 || math.Abs(row.MaxOverMean-1.5) > 1e-9 || row.Busiest != 0.6 || row.Work != 40 {
		t.Errorf("%+v", row)
	}
}

// TestOrder: every strategy comes first in one of the rounds.
func TestOrder(t *testing.T) {
	p := Plan{Strategies: []string{"a", "b", "c"}}
	if got := [][]string{p.order(0), p.order(1), p.order(2)}; got[0][0] != "a" || !slices.Equal(got[1], []string{"b", "c", "a"}) || got[2][0] != "c" {
		t.Errorf("%v", got)
	}
}

// TestPage: rows that could not be measured are shown as not tested, with the reason.
func TestPage(t *testing.T) {
	r := &Report{Command: "adbench premise", Commit: "abc", Slaves: 2, Share: 0.1, Costs: []Cost{{Trees: None}, {Trees: 9, Micros: 10}}}
	for _, c := range r.Costs {
		for _, s := range []string{"random", Fixed, "topics"} {
			for round := range 3 {
				row := Row{Trees: c.Trees, Strategy: s, Round: round + 1, P50: 1, P99: 9, Asked: 1}
				switch {
				case s == "topics":
					row.Error = "it ended by itself"
				case s == "random" && c.Trees == 9:
					row.P99 = 5
				}
				r.Rows = append(r.Rows, row)
			}
		}
	}
	var html, text bytes.Buffer
	if err := r.WritePage(&html); err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, html.String())
	if err := r.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"no scorer, against fixed: not decided: random; not tested: topics.", "10 µs a candidate, against fixed: worth it: random; not tested: topics.",
		"topics could not be measured: it ended by itself", "lend each other their cores",
	} {
		if !strings.Contains(html.String(), want) || !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing:\n%s", want, text.String())
		}
	}
	if got := r.strategies(); !slices.Equal(got, []string{Fixed, "random", "topics"}) {
		t.Errorf("%v", got)
	}
}
