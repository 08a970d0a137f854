package compare

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"adshard/bench/measure"
)

// names returns the figures' names with their units, in the order of the first
// run. A figure that only later runs have comes after the figure that it follows
// there.
func (c *Comparison) names() (out []measure.Figure) {
	for _, r := range c.Runs {
		at := 0
		for _, f := range r.Figures {
			i := slices.IndexFunc(out, func(g measure.Figure) bool { return g.Name == f.Name })
			if i < 0 {
				i = at
				out = slices.Insert(out, i, measure.Figure{Name: f.Name, Unit: f.Unit})
			}
			at = i + 1
		}
	}
	return out
}

// Rows returns the table of figures: a header, then a row for each figure with a
// cell for each run, or "–" where the run lacks the figure.
func (c *Comparison) Rows() [][]string {
	header := []string{"", ""}
	for _, r := range c.Runs {
		header = append(header, r.Strategy)
	}
	rows := [][]string{header}
	for _, f := range c.names() {
		row := []string{f.Name, f.Unit}
		for i := range c.Runs {
			cell := "–"
			if v, ok := c.Runs[i].Find(f.Name); ok {
				cell = measure.Number(v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// column is a quantity of the study's table.
type column struct {
	name string
	of   func(*Placed) float64
	// compared: one value is the best. most: the largest value is.
	compared, most bool
}

// columns returns the columns of the study's table. Ratios compare each query
// with its own bound.
func (c *Comparison) columns() []column {
	out := []column{{"max/mean of load", func(p *Placed) float64 { return p.MaxOverMean }, true, false}}
	if len(c.Study) > 0 {
		for i, r := range c.Study[0].Ratios {
			at := func(of func(*Ratios) float64) func(*Placed) float64 {
				return func(p *Placed) float64 {
					if i >= len(p.Ratios) {
						return 0
					}
					return of(&p.Ratios[i])
				}
			}
			if i == 0 {
				out = append(out,
					column{"slowest ÷ own bound, " + r.Costs + ": mean", at(func(r *Ratios) float64 { return r.Mean }), true, false},
					column{"p50", at(func(r *Ratios) float64 { return r.P50 }), true, false},
					column{"p90", at(func(r *Ratios) float64 { return r.P90 }), true, false})
			}
			out = append(out, column{"p99, " + r.Costs, at(func(r *Ratios) float64 { return r.P99 }), true, false})
		}
	}
	if slices.ContainsFunc(c.Study, func(p Placed) bool { return p.Course != nil }) {
		out = append(out, courseColumns()...)
	}
	return append(out,
		column{"slowest slave: mean, µs", func(p *Placed) float64 { return p.Mean }, true, false},
		column{"slowest slave: p99, µs", func(p *Placed) float64 { return p.P99 }, true, false},
		column{"queries/s, one at a time", func(p *Placed) float64 { return p.OneAtATime }, true, true},
		column{"queries/s, busiest slave full", func(p *Placed) float64 { return p.Saturated }, true, true})
}

// StudyRows returns the table of the study.
func (c *Comparison) StudyRows() [][]string {
	header := []string{"workload", "slaves", "placement"}
	columns := c.columns()
	for _, col := range columns {
		header = append(header, col.name)
	}
	rows := [][]string{header}
	for i := range c.Study {
		p := &c.Study[i]
		row := []string{p.Workload, fmt.Sprint(p.Slaves), p.Placement}
		for _, col := range columns {
			row = append(row, col.text(p))
		}
		rows = append(rows, row)
	}
	return rows
}

// WriteTable writes the comparison for a terminal.
func (c *Comparison) WriteTable(w io.Writer) error {
	fmt.Fprintln(w, c.title())
	if len(c.Runs) > 0 {
		if err := writeRows(w, c.Rows()); err != nil {
			return err
		}
	}
	if len(c.Study) > 0 {
		if err := writeRows(w, c.StudyRows()); err != nil {
			return err
		}
	}
	if len(c.Iterations) > 0 {
		if err := writeRows(w, append([][]string{iterationHeader}, iterationRows(c.Iterations)...)); err != nil {
			return err
		}
	}
	for _, v := range c.verdict() {
		fmt.Fprintln(w, v)
	}
	for _, r := range c.Runs {
		for _, n := range r.Notes {
			fmt.Fprintf(w, "%s: %s\n", r.Strategy, n)
		}
	}
	for _, n := range c.Notes {
		fmt.Fprintln(w, n)
	}
	return nil
}

func writeRows(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprint(t, cell, "\t")
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// ratio returns a/b, or 1 if both are 0.
func ratio(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	return a / b
}
