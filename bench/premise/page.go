package premise

import (
	"fmt"
	"io"
	"math"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the packages that the figures measure.
var packages = []string{"balance", "barrels", "search", "auction", "scorer", "internal/node", "bench/premise", "bench/workload", "internal/corpus"}

// WritePage writes the report as one HTML page.
func (r *Report) WritePage(w io.Writer) error {
	p := &page.Page{
		Title: "The premise: an auction that costs",
		Lead: fmt.Sprintf("%s ad groups with %s keywords by %s on %d slaves, each with %s of a processor; a log whose topics shift is asked at %s %% of what a placement by size answers in time. %s Measured are the %s s after the shift.",
			measure.Number(float64(r.Groups)), measure.Number(float64(r.Keywords)), r.Order, r.Slaves, r.shareText(), measure.Number(100*r.Of), r.scored(), measure.Number(r.After)),
		Verdict: r.findings(), Notes: r.notes(),
		Made: []page.Made{{Command: r.Command, Commit: r.Commit, Packages: packages, About: []string{r.Date, r.Machine, "load before: " + r.Load}}},
		Terms: []page.Term{
			{Word: Fixed, Means: "Groups placed by size, and nothing moves."},
			{Word: "incomplete", Means: "Requests without a complete answer: a slave was missing at the deadline, or the request was refused."},
			{Word: "in time ÷ asked", Means: "Complete answers within the deadline, of the requests."},
			{Word: worth, Means: "In every round at most half as many incomplete answers, or no more and a p99 of at most 0.8 times that of fixed. Up to 1 % counts as none."},
			{Word: worse, Means: "In every round twice as many incomplete answers, or no fewer and a p99 of 1.25 times that of fixed or more. What is neither, or has fewer than three rounds, is not decided."},
			{Word: "moves", Means: "From the start of the load on, before the shift as well."},
		},
	}
	if r.Exact {
		p.Title += ", with every match scored"
	}
	p.Sections = append(p.Sections, r.charts(), r.tables())
	return p.Write(w)
}

// scored says how many candidates a model scores.
func (r *Report) scored() string {
	if r.Exact {
		return "Every keyword that matches is scored."
	}
	return "Searches stop early: keywords that cannot win are not scored."
}

func (r *Report) shareText() string {
	if !r.Limited {
		return "no limit"
	}
	return measure.Number(100*r.Share) + " %"
}

// charts returns the section that draws medians by cost.
func (r *Report) charts() page.Section {
	s := page.Section{Title: "By what a candidate costs", Note: "Medians; 0 is without a scorer."}
	for _, c := range columns[:5] {
		ch := chart.Chart{Title: c.name, XLabel: "µs a candidate"}
		for _, cost := range r.Costs {
			ch.Steps = append(ch.Steps, cost.Micros)
		}
		for _, name := range r.strategies() {
			line := chart.Line{Name: name}
			for _, cost := range r.Costs {
				if values := c.values(r.of(cost.Trees, name)); len(values) > 0 {
					_, median, _ := measure.Rounds(values)
					line.X, line.Y = append(line.X, cost.Micros), append(line.Y, median)
				}
			}
			if len(line.X) > 0 {
				ch.Lines = append(ch.Lines, line)
			}
		}
		if len(ch.Lines) > 0 {
			s.Charts = append(s.Charts, page.Chart(ch.SVG()))
		}
	}
	return s
}

// tables returns the section with the table, which has a group of rows for
// each cost.
func (r *Report) tables() page.Section {
	t := &page.Table{Header: []string{"strategy", "rounds"}}
	for _, c := range columns {
		t.Header = append(t.Header, c.name)
	}
	for _, cost := range r.Costs {
		g := page.Group{Name: fmt.Sprintf("%s, %s requests a second", cost.Name(), measure.Number(cost.Rate))}
		for _, name := range r.strategies() {
			rows := r.of(cost.Trees, name)
			cells := []string{name, fmt.Sprint(len(rows))}
			for i := range columns {
				cells = append(cells, spread(columns[i].values(rows)))
			}
			g.Rows = append(g.Rows, page.Cells(cells...))
		}
		for i, c := range columns {
			if !c.bare {
				page.MarkBest(g.Rows, i+2, r.medians(&c, cost.Trees), c.most)
			}
		}
		t.Groups = append(t.Groups, g)
	}
	return page.Section{Title: "All figures", Note: "Medians of the rounds, with the least and the largest.", Tables: []*page.Table{t}}
}

// medians returns the medians of the strategies; NaN: not tested.
func (r *Report) medians(c *column, trees int) (list []float64) {
	for _, name := range r.strategies() {
		_, median, _ := measure.Rounds(c.values(r.of(trees, name)))
		if len(r.of(trees, name)) == 0 {
			median = math.NaN()
		}
		list = append(list, median)
	}
	return list
}
