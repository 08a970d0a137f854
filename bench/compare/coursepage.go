package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// text returns the text of a column's cell, or "–" if there is no value.
func (col *column) text(p *Placed) string {
	v := col.of(p)
	if math.IsNaN(v) {
		return "–"
	}
	return measure.Number(v)
}

// courseColumns returns the columns on what a strategy does after each change.
func courseColumns() []column {
	of := func(value func(*Course, *Placed) float64) func(*Placed) float64 {
		return func(p *Placed) float64 {
			if p.Course == nil {
				return math.NaN()
			}
			return value(p.Course, p)
		}
	}
	shift := func(value func(*Change) float64) func(*Placed) float64 {
		return of(func(c *Course, _ *Placed) float64 {
			if c.Shift == nil {
				return math.NaN()
			}
			return value(c.Shift)
		})
	}
	known := func(v float64) float64 { // negative: never, or without a denominator
		if v < 0 {
			return math.NaN()
		}
		return v
	}
	return []column{
		{"iterations to balance, from the start", of(func(c *Course, _ *Placed) float64 { return known(float64(c.Start.Balanced)) }), true, false},
		{"moved, % of all", of(func(c *Course, _ *Placed) float64 { return 100 * c.Start.Moved }), false, false},
		{"÷ the least", of(func(c *Course, _ *Placed) float64 { return known(c.Start.Over()) }), true, false},
		{"returned, % of all", of(func(c *Course, _ *Placed) float64 { return 100 * c.Start.Back }), true, false},
		{"max/mean after the shift", shift(func(v *Change) float64 { return v.MaxOverMean }), true, false},
		{"iterations to balance, after the shift", shift(func(v *Change) float64 { return known(float64(v.Balanced)) }), true, false},
		{"moved, ÷ the least", shift(func(v *Change) float64 { return known(v.Over()) }), true, false},
		{"returned after the shift, % of all", shift(func(v *Change) float64 { return 100 * v.Back }), true, false},
		{"moved at a join ÷ an equal share", of(func(c *Course, p *Placed) float64 { return c.Join.Moved * float64(p.Slaves+1) }), false, false},
		{"max/mean after it", of(func(c *Course, _ *Placed) float64 { return c.Join.MaxOverMean }), true, false},
		{"moved at a leave ÷ what it had", of(func(c *Course, p *Placed) float64 { return left(c, p) }), true, false},
		{"max/mean after the leave", of(func(c *Course, p *Placed) float64 {
			if p.Slaves == 1 {
				return math.NaN()
			}
			return c.Leave.MaxOverMean
		}), true, false},
		{"moved when the balancer starts again, % of all", of(func(c *Course, _ *Placed) float64 {
			if c.Restart == nil {
				return math.NaN()
			}
			return 100 * c.Restart.Moved
		}), true, false},
	}
}

// left returns what moved when a slave left, relative to what the slave had.
func left(c *Course, p *Placed) float64 {
	if v := c.Leave.Over(); p.Slaves > 1 && v >= 0 {
		return v
	}
	return math.NaN()
}

// score returns the value by which placements are ranked: how far queries are from
// their own bounds on average, counting only work.
func (p *Placed) score() float64 {
	if len(p.Ratios) == 0 {
		return p.MaxOverMean
	}
	return p.Ratios[0].Mean
}

// ranked sorts rows by the score of the placements that they show.
func ranked(rows [][]page.Cell, of []*Placed) {
	at := make([]int, len(of))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(of[a].score(), of[b].score()) })
	sortedRows, sortedOf := make([][]page.Cell, len(of)), make([]*Placed, len(of))
	for i, v := range at {
		sortedRows[i], sortedOf[i] = rows[v], of[v]
	}
	copy(rows, sortedRows)
	copy(of, sortedOf)
}

// ranks returns tables of placements by workload: the rank of each, as the mean over
// the numbers of slaves.
func (c *Comparison) ranks() page.Section {
	s := page.Section{Title: "Ranked by workload", Note: "The place of a placement among all, 1 the best, as the mean over the numbers of slaves but 1. Placements that differ by less than 1 % share a place."}
	for _, by := range []struct {
		title string
		of    func(*Placed) float64
	}{
		{"By a query's slowest slave ÷ its own bound, work alone, mean", (*Placed).score},
		{"By max/mean of load at rest", func(p *Placed) float64 { return p.MaxOverMean }},
		{"By what returns and moves, ÷ the least, from the start", func(p *Placed) float64 {
			if p.Course == nil || p.Course.Start.Over() < 0 || p.Course.Start.Balanced < 0 {
				return math.Inf(1)
			}
			return p.Course.Start.Over()
		}},
	} {
		s.Tables = append(s.Tables, c.rank(by.title, by.of))
	}
	s.Tables[2].Note = "Those that never balance, or that are no strategy, share the last place."
	return s
}

func (c *Comparison) rank(title string, of func(*Placed) float64) *page.Table {
	workloads, placements, slaves := c.studyAxes()
	t := &page.Table{Title: title, Header: append([]string{"placement"}, append(slices.Clone(workloads), "mean")...)}
	means := make([][]float64, len(placements))
	for i, placement := range placements {
		sum := 0.0
		for _, w := range workloads {
			v := c.place(w, placement, slaves, of)
			sum += v
			means[i] = append(means[i], v)
		}
		means[i] = append(means[i], sum/float64(len(workloads)))
	}
	at := make([]int, len(placements))
	for i := range at {
		at[i] = i
	}
	last := len(workloads)
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(means[a][last], means[b][last]) })
	var rows [][]page.Cell
	for _, i := range at {
		row := page.Cells(placements[i])
		for _, v := range means[i] {
			row = append(row, page.Cell{Text: measure.Number(v)})
		}
		rows = append(rows, row)
	}
	for j := range last + 1 {
		var values []float64
		for _, i := range at {
			values = append(values, means[i][j])
		}
		page.MarkBest(rows, 1+j, values, false)
	}
	t.Groups = []page.Group{{Rows: rows}}
	return t
}

// place returns the mean rank of a placement for a workload.
func (c *Comparison) place(w, placement string, slaves []float64, of func(*Placed) float64) float64 {
	sum, n := 0.0, 0
	for _, number := range slaves {
		own, better := math.NaN(), 1
		for i := range c.Study {
			if p := &c.Study[i]; p.Workload == w && float64(p.Slaves) == number && p.Placement == placement {
				own = of(p)
			}
		}
		if math.IsNaN(own) || number == 1 {
			continue
		}
		for i := range c.Study {
			if p := &c.Study[i]; p.Workload == w && float64(p.Slaves) == number && of(p) < own/1.01 {
				better++
			}
		}
		sum, n = sum+float64(better), n+1
	}
	return sum / float64(max(n, 1))
}

// apartByStrategy returns a table for each strategy, by workload and number of slaves.
func (c *Comparison) apartByStrategy() (out []page.Section) {
	workloads, placements, _ := c.studyAxes()
	columns := c.columns()
	for _, placement := range placements {
		t := &page.Table{Header: []string{"slaves"}}
		for _, col := range columns {
			t.Header = append(t.Header, col.name)
		}
		courses := false
		for _, w := range workloads {
			g := page.Group{Name: w}
			for i := range c.Study {
				p := &c.Study[i]
				if p.Workload != w || p.Placement != placement {
					continue
				}
				courses = courses || p.Course != nil
				row := page.Cells(fmt.Sprint(p.Slaves))
				for _, col := range columns {
					row = append(row, page.Cell{Text: col.text(p)})
				}
				g.Rows = append(g.Rows, row)
			}
			if len(g.Rows) > 0 {
				t.Groups = append(t.Groups, g)
			}
		}
		if courses {
			out = append(out, page.Section{Title: "Strategy " + placement, Tables: []*page.Table{t}})
		}
	}
	return out
}

var iterationHeader = []string{"one iteration", "processor time, s", "least", "most", "allocated, MB", "remembered, bytes", "operations"}

func iterationRows(list []Iteration) (rows [][]string) {
	for _, v := range list {
		rows = append(rows, []string{v.Strategy, measure.Number(v.Seconds), measure.Number(v.Least), measure.Number(v.Most),
			measure.Number(v.Allocated / 1e6), fmt.Sprint(v.Remembered), measure.Number(float64(v.Ops))})
	}
	return rows
}

// iterations returns the section on the cost of one iteration of each strategy.
func (c *Comparison) iterations() page.Section {
	s := page.Section{Title: "One iteration at 100,000 slices", Note: fmt.Sprintf(
		"The first iteration of each strategy: 1,000,000 items with loads by Zipf's law in 100,000 slices, at random on 1,000 shards, in the order by hash; by advertiser, ten items each, for original, in a night, and esdb. Processor time of all threads, that of the collector included: the median of %d, with the extremes.", iterationRuns)}
	t := &page.Table{Header: iterationHeader}
	var g page.Group
	seconds, memory := &chart.Bars{Title: "Processor time of one iteration", Unit: "s"}, &chart.Bars{Title: "Allocated in one iteration", Unit: "MB"}
	for i, row := range iterationRows(c.Iterations) {
		v := c.Iterations[i]
		g.Rows = append(g.Rows, page.Cells(row...))
		seconds.Bars = append(seconds.Bars, chart.Bar{Name: v.Strategy, Label: row[1], Value: v.Seconds, Least: v.Least, Most: v.Most})
		memory.Bars = append(memory.Bars, chart.Bar{Name: v.Strategy, Label: row[4], Value: v.Allocated / 1e6})
	}
	t.Groups = []page.Group{g}
	s.Tables = []*page.Table{t}
	s.Charts = append(s.Charts, page.Chart(seconds.SVG()), page.Chart(memory.SVG()))
	return s
}
