package compare

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"adshard/bench/measure"
)

// names returns the figures' names with their units: in the order of the first
// run, with those that only later ones have behind the figure they follow there.
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

// Rows returns the table of figures: a header, then a row for each figure with
// a cell for each run; "–" where a run has none.
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

// StudyRows returns the table of the study.
func (c *Comparison) StudyRows() [][]string {
	rows := [][]string{{"workload", "slaves", "placement", "max/mean of load", "slowest slave ÷ bound",
		"slowest slave: mean, µs", "p99, µs", "bound: p99, µs", "p99 ÷ bound", "queries/s, one at a time", "queries/s, busiest slave full"}}
	for _, p := range c.Study {
		rows = append(rows, []string{p.Workload, fmt.Sprint(p.Slaves), p.Placement, measure.Number(p.MaxOverMean),
			measure.Number(p.Expected), measure.Number(p.Mean), measure.Number(p.P99), measure.Number(p.BoundP99),
			measure.Number(ratio(p.P99, p.BoundP99)), measure.Number(p.OneAtATime), measure.Number(p.Saturated)})
	}
	return rows
}

// WriteTable writes the comparison for a terminal.
func (c *Comparison) WriteTable(w io.Writer) error {
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

// ratio is a/b, 1 when both are 0.
func ratio(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	return a / b
}
