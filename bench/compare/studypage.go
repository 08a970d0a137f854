package compare

import (
	"fmt"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// study returns the table of the study: a group for each workload and number of
// slaves, with the best placement marked.
func (c *Comparison) study() *page.Table {
	t := &page.Table{Header: []string{"placement"}}
	columns := c.columns()
	for _, col := range columns {
		t.Header = append(t.Header, col.name)
	}
	workloads, _, slaves := c.studyAxes()
	for _, w := range workloads {
		for _, n := range slaves {
			var rows [][]page.Cell
			var of []*Placed
			for i := range c.Study {
				p := &c.Study[i]
				if p.Workload != w || float64(p.Slaves) != n {
					continue
				}
				row := page.Cells(p.Placement)
				for _, col := range columns {
					row = append(row, page.Cell{Text: col.text(p)})
				}
				rows, of = append(rows, row), append(of, p)
			}
			ranked(rows, of)
			for j, col := range columns {
				if n == 1 || !col.compared {
					continue // on one slave, all placements are the same
				}
				values := make([]float64, len(of))
				for i, p := range of {
					values[i] = col.of(p)
				}
				page.MarkBest(rows, 1+j, values, col.most)
			}
			if len(rows) > 0 {
				t.Groups = append(t.Groups, page.Group{Name: fmt.Sprintf("%s, %s slaves", w, measure.Number(n)), Rows: rows})
			}
		}
	}
	return t
}

// studyCharts draws quantities by number of slaves: a section for each quantity,
// with a chart for each workload.
func (c *Comparison) studyCharts() (out []page.Section) {
	workloads, placements, slaves := c.studyAxes()
	for _, q := range c.drawn() {
		section := page.Section{Title: q.name}
		for _, w := range workloads {
			ch := chart.Chart{Title: w, XLabel: "slaves", Steps: slaves}
			for _, placement := range placements {
				l := chart.Line{Name: placement}
				for j := range c.Study {
					if p := &c.Study[j]; p.Workload == w && p.Placement == placement {
						l.X, l.Y = append(l.X, float64(p.Slaves)), append(l.Y, q.of(p))
					}
				}
				if len(l.X) > 0 {
					ch.Lines = append(ch.Lines, l)
				}
			}
			section.Charts = append(section.Charts, page.Chart(ch.SVG()))
		}
		out = append(out, section)
	}
	return out
}

// drawn returns the quantities to draw: ratios by the first and the last cost
// model, and the query rates that the cluster can reach.
func (c *Comparison) drawn() (out []column) {
	ratio := func(title string, model int, of func(*Ratios) float64) {
		if model >= 0 && model < len(c.Study[0].Ratios) {
			out = append(out, column{name: fmt.Sprintf("Slowest slave of a query ÷ its own bound, by %s: %s", c.Study[0].Ratios[model].Costs, title),
				of: func(p *Placed) float64 { return of(&p.Ratios[model]) }})
		}
	}
	last := len(c.Study[0].Ratios) - 1
	ratio("p50", 0, func(r *Ratios) float64 { return r.P50 })
	ratio("p99", 0, func(r *Ratios) float64 { return r.P99 })
	if last > 0 {
		ratio("p99", last, func(r *Ratios) float64 { return r.P99 })
	}
	out = append(out, column{name: "max/mean of load at rest", of: func(p *Placed) float64 { return p.MaxOverMean }})
	return append(out, column{name: "Queries a second, busiest slave full", of: func(p *Placed) float64 { return p.Saturated }})
}

// studyAxes returns the values that the study covers, in order of appearance.
func (c *Comparison) studyAxes() (workloads, placements []string, slaves []float64) {
	seen := make(map[any]bool)
	for _, p := range c.Study {
		if !seen["w"+p.Workload] {
			workloads = append(workloads, p.Workload)
		}
		if !seen["p"+p.Placement] {
			placements = append(placements, p.Placement)
		}
		if !seen[p.Slaves] {
			slaves = append(slaves, float64(p.Slaves))
		}
		seen["w"+p.Workload], seen["p"+p.Placement], seen[p.Slaves] = true, true, true
	}
	return workloads, placements, slaves
}
