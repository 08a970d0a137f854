package executions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adshard/bench/claims"
	"adshard/bench/measure"
)

// The limits for ratios of medians: between 1/alike and alike, both excluded, a ratio is
// alike; from alike on it is slower; from much on it is also much slower; otherwise it is
// faster.
const (
	alike = 1.2
	much  = 1.5
)

func near(v float64) bool       { return v < alike && v > 1/alike }
func slower(v float64) bool     { return v >= alike }
func muchSlower(v float64) bool { return v >= much }
func notFaster(v float64) bool  { return v > 1/alike }

// ratios returns the ratios of the medians of two layouts on a setup, one for each run in
// which both were measured.
func (r *Report) ratios(setup, layout, other string) (out []float64) {
	a, b := r.find(setup, layout), r.find(setup, other)
	if a == nil || b == nil {
		return nil
	}
	for _, run := range slices.Sorted(maps.Keys(a.Medians)) {
		if v, ok := b.Medians[run]; ok {
			out = append(out, a.Medians[run]/v)
		}
	}
	return out
}

// middle returns the median, or the lower of two middle values.
func middle(list []float64) float64 { return slices.Sorted(slices.Values(list))[(len(list)-1)/2] }

// said formats the median with the smallest and the largest value.
func said(list []float64) string {
	s := measure.Number(middle(list))
	if len(list) > 1 {
		s += " (" + measure.Number(slices.Min(list)) + " – " + measure.Number(slices.Max(list)) + ")"
	}
	return s
}

// findings says, by setup, whether something holds in each of the runs.
type findings [][]bool

func (f *findings) add(values []float64, holds func(float64) bool) {
	var list []bool
	for _, v := range values {
		list = append(list, holds(v))
	}
	*f = append(*f, list)
}

// judge sets a claim's verdict. The claim holds if it does on all setups in all runs, and
// is contradicted if it holds in no run of some setup; otherwise it is not decided.
func (f findings) judge(c *claims.Claim) {
	c.Holds = true
	undecided := false
	for _, runs := range f {
		switch {
		case !slices.Contains(runs, true):
			c.Holds, c.Untested = false, ""
			return
		case slices.Contains(runs, false):
			undecided = true
		}
	}
	switch {
	case len(f) == 0:
		c.Holds, c.Untested = false, "not measured here"
	case undecided:
		c.Holds, c.Untested = false, "runs are on both sides of the limit"
	}
}

// comparison collects claims.
type comparison struct {
	report *Report
	list   []claims.Claim
}

// compare adds a claim about the ratios of two layouts.
func (c *comparison) compare(one claims.Claim, holds func(ratio float64) bool, layout, other string, setups ...string) {
	var f findings
	var words []string
	for _, s := range setups {
		if ratios := c.report.ratios(s, layout, other); len(ratios) > 0 {
			f.add(ratios, holds)
			words = append(words, fmt.Sprintf("%s on %s", said(ratios), s))
		}
	}
	one.Ours = "–"
	if len(words) > 0 {
		one.Ours = fmt.Sprintf("time of %s ÷ %s: %s", layout, other, strings.Join(words, ", "))
	}
	c.add(one, f)
}

// add judges a claim and adds it.
func (c *comparison) add(one claims.Claim, f findings) {
	if one.Ours == "" {
		one.Ours = "–"
	}
	f.judge(&one)
	c.list = append(c.list, one)
}
