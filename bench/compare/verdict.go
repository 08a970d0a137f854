package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"adshard/bench/measure"
)

// The figures that the verdict of a comparison is about, if the runs have them.
const (
	perQueryAtEnd = "slowest slave of a query ÷ the query's bound, at the end"
	p99OfAll      = "p99 at the master, all"
	p99AtRest     = "p99 at the master, before moves"
)

// verdict says in a few sentences what was found, good or bad.
func (c *Comparison) verdict() []string {
	if len(c.Study) > 0 {
		return c.studyVerdict()
	}
	var out []string
	say := func(name, format string) {
		best, worst, ok := c.extremes(name)
		if !ok {
			return
		}
		between := fmt.Sprintf("%s (%s) to %s (%s)", measure.Number(best.value), best.strategy, measure.Number(worst.value), worst.strategy)
		if measure.Number(best.value) == measure.Number(worst.value) {
			between = measure.Number(best.value) + " (all alike)"
		}
		out = append(out, fmt.Sprintf(format, between))
	}
	say(c.last("max/mean at the end"), "Load at the end, the busiest slave's over the mean: %s.")
	say(perQueryAtEnd, "What users feel, a query's slowest slave over the query's bound at the end: %s; 1 cannot be beaten.")
	if _, _, ok := c.extremes(p99OfAll); ok {
		say(p99OfAll, "p99 at the master over the whole run, ms: %s.")
	} else {
		say(p99AtRest, "p99 at the master before any move, ms: %s.")
	}
	return append(out, c.faults()...)
}

// valued is a strategy with a value.
type valued struct {
	strategy string
	value    float64
}

// extremes returns the smallest and the largest value of a figure; ok is false
// if fewer than two runs have it.
func (c *Comparison) extremes(name string) (least, most valued, ok bool) {
	var all []valued
	for i := range c.Runs {
		if v, ok := c.Runs[i].Find(name); ok {
			all = append(all, valued{c.Runs[i].Strategy, v})
		}
	}
	if len(all) < 2 {
		return least, most, false
	}
	by := func(a, b valued) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	}
	return slices.MinFunc(all, by), slices.MaxFunc(all, by), true
}

// last returns the name of a figure for the last mix of queries.
func (c *Comparison) last(name string) string {
	if n := len(c.Shifts); n > 0 {
		return fmt.Sprintf("%s, after change %d", name, n)
	}
	return name
}

// faults says how many answers were wrong or incomplete, if they were checked.
func (c *Comparison) faults() []string {
	wrong, incomplete, watched := 0.0, 0.0, false
	for i := range c.Runs {
		for _, name := range []string{"ads missed", "ads too many", "ads with another price", "groups missed in complete answers", "groups doubled in complete answers"} {
			if v, ok := c.Runs[i].Find(name); ok {
				wrong, watched = wrong+v, true
			}
		}
		if v, ok := c.Runs[i].Find("incomplete answers"); ok {
			incomplete += v
		}
	}
	if !watched {
		return nil
	}
	return []string{fmt.Sprintf("Ads missed, doubled or with another price in complete answers: %s; incomplete answers: %s.", measure.Number(wrong), measure.Number(incomplete))}
}

// studyVerdict says how far the placements are from each query's own bound, by
// the first and the last cost model, with more than one slave.
func (c *Comparison) studyVerdict() (out []string) {
	_, placements, _ := c.studyAxes()
	models := len(c.Study[0].Ratios)
	for m := range models {
		if m != 0 && m != models-1 {
			continue
		}
		var parts []string
		for _, placement := range placements {
			least, most := math.Inf(1), 0.0
			for i := range c.Study {
				p := &c.Study[i]
				if p.Placement == placement && p.Slaves > 1 && m < len(p.Ratios) {
					least, most = min(least, p.Ratios[m].P99), max(most, p.Ratios[m].P99)
				}
			}
			if most > 0 {
				parts = append(parts, fmt.Sprintf("%s %s to %s", placement, measure.Number(least), measure.Number(most)))
			}
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("A query's slowest slave ÷ that query's own bound, p99 (%s): %s; 1 cannot be beaten.", c.Study[0].Ratios[m].Costs, strings.Join(parts, "; ")))
		}
	}
	return out
}
