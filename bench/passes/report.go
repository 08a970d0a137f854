package passes

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

func complete(answer []byte) bool { return bytes.Contains(answer, []byte(`"complete":true`)) }

// Outcome is the result of a strategy on a workload, in one run with a fresh cluster.
type Outcome struct {
	Strategy string `json:"strategy"`
	Order    string `json:"order,omitempty"`
	Workload string `json:"workload"`
	Run      int    `json:"run,omitempty"` // from 1
	Note     string `json:"note,omitempty"`
	Passes   []Pass `json:"passes"`
}

// Report is the result of the whole command.
type Report struct {
	Command  string    `json:"command"`
	Commit   string    `json:"commit"`
	Load     string    `json:"load"`
	Machine  string    `json:"machine"`
	Date     string    `json:"date"`
	Groups   uint64    `json:"groups"`
	Keywords uint64    `json:"keywords"`
	Runs     []Outcome `json:"runs"`
}

// figures names the thesis' figures, for the slaves and for the master, by strategy, workload
// and pass.
var figures = map[string][2]string{
	"original, single, 1": {"8.1", "8.3"}, "original, production, 1": {"8.2", "8.4"},
	"random, single, 1": {"8.5", "8.7"}, "random, production, 1": {"8.6", "8.8"},
	"weighted-move, single, 1": {"8.9", "8.11"}, "weighted-move, single, 100": {"8.10", "8.12"},
	"weighted-move, production, 1": {"8.13", ""}, "weighted-move, production, 3": {"8.14", ""},
	"weighted-move, production, 5": {"8.15, 8.17", "8.18"}, "weighted-move, production, 100": {"8.16", ""},
}

// Spread returns how unequal the slaves are in a pass: the largest of their mean times over
// the mean of these. The means leave out the slowest twentieth of the queries, most of which
// waited for a processor.
func (p *Pass) Spread() float64 {
	var most, sum float64
	for _, s := range p.Slaves {
		v := mean(s)
		most, sum = max(most, v), sum+v
	}
	if sum == 0 {
		return 1
	}
	return most * float64(len(p.Slaves)) / sum
}

// Slowest returns the mean time at the queries' slowest slaves over the mean time at all
// slaves, with the same queries left out. It is 1 if each query takes equally long on all
// slaves.
func (p *Pass) Slowest() float64 {
	slowest, all := make([]float64, len(p.Master)), make([]float64, len(p.Master))
	for q := range p.Master {
		for _, s := range p.Slaves {
			slowest[q], all[q] = max(slowest[q], s[q]), all[q]+s[q]/float64(len(p.Slaves))
		}
	}
	if mean(all) == 0 {
		return 1
	}
	return mean(slowest) / mean(all)
}

// mean returns the mean of all values except the largest twentieth.
func mean(list []float64) (sum float64) {
	sorted := slices.Sorted(slices.Values(list))
	sorted = sorted[:len(sorted)-len(sorted)/20]
	for _, v := range sorted {
		sum += v / float64(len(sorted))
	}
	return sum
}

func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

var header = []string{"strategy, workload, pass", "figure", "runs", "slaves' p50, µs", "slaves' p99, µs", "busiest ÷ mean slave, 95 %", "slowest ÷ mean, query by query, 95 %",
	"master p50, ms", "master p99, ms", "max/mean at the balancer", "slices", "groups moved", "incomplete"}

// row is a recorded pass of a strategy on a workload, in all runs.
type row struct {
	strategy, order, workload string
	passes                    []*Pass
}

func (w *row) name() string {
	name := w.strategy
	if w.order != "" {
		name += " by " + w.order
	}
	return fmt.Sprintf("%s, %s, %d", name, w.workload, w.passes[0].Number)
}

// figure returns the names of the thesis' figures for the row: slaves and master.
func (w *row) figure() [2]string {
	return figures[fmt.Sprintf("%s, %s, %d", w.strategy, w.workload, w.passes[0].Number)]
}

// said formats the middle value of the runs, with the least and the most.
func (w *row) said(value func(p *Pass) float64) string {
	var list []float64
	for _, p := range w.passes {
		list = append(list, value(p))
	}
	slices.Sort(list)
	text := measure.Number(list[(len(list)-1)/2])
	if len(list) > 1 {
		text += " (" + measure.Number(list[0]) + " – " + measure.Number(list[len(list)-1]) + ")"
	}
	return text
}

// grouped returns the rows, in the order in which they were first measured.
func (r *Report) grouped() (rows []*row) {
	for _, o := range r.Runs {
		for i := range o.Passes {
			p := &o.Passes[i]
			at := slices.IndexFunc(rows, func(w *row) bool {
				return w.strategy == o.Strategy && w.order == o.Order && w.workload == o.Workload && w.passes[0].Number == p.Number
			})
			if at < 0 {
				at, rows = len(rows), append(rows, &row{strategy: o.Strategy, order: o.Order, workload: o.Workload})
			}
			rows[at].passes = append(rows[at].passes, p)
		}
	}
	return rows
}

// Rows returns the table, with a row for each recorded pass. For several runs, it has the
// middle values with the least and the most.
func (r *Report) Rows() (rows [][]string) {
	for _, w := range r.grouped() {
		of := func(q float64) string {
			var list []string
			for i := range w.passes[0].Slaves {
				list = append(list, w.said(func(p *Pass) float64 { return 1e3 * quantile(p.Slaves[i], q) }))
			}
			return strings.Join(list, " / ")
		}
		f := w.figure()
		both := strings.Trim(f[0]+"; "+f[1], "; ")
		rows = append(rows, []string{w.name(), cmp.Or(both, "–"), fmt.Sprint(len(w.passes)), of(0.5), of(0.99), w.said((*Pass).Spread), w.said((*Pass).Slowest),
			w.said(func(p *Pass) float64 { return quantile(p.Master, 0.5) }), w.said(func(p *Pass) float64 { return quantile(p.Master, 0.99) }),
			w.said(func(p *Pass) float64 { return p.MaxOverMean }), w.said(func(p *Pass) float64 { return float64(p.Slices) }),
			w.said(func(p *Pass) float64 { return float64(p.Moved) }), w.said(func(p *Pass) float64 { return float64(p.Incomplete) })})
	}
	return rows
}

// verdict says how unequal the slaves are in each recorded pass of a workload, and about
// which strategies nothing can be said because they moved nothing.
func (r *Report) verdict() (out []string) {
	rows := r.grouped()
	for _, workload := range workloads {
		var parts []string
		for _, w := range rows {
			if w.workload == workload {
				parts = append(parts, fmt.Sprintf("%s: %s and %s", w.name(), w.said((*Pass).Spread), w.said((*Pass).Slowest)))
			}
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("Workload %s, without the slowest twentieth of the queries: busiest slave ÷ mean of the slaves over the pass, and the queries' slowest slaves ÷ their mean ones: %s.", workload, strings.Join(parts, "; ")))
		}
	}
	return append(out, r.untested(rows)...)
}

// workloads lists the thesis' workloads.
var workloads = []string{"single", "production"}

// Still reports whether a strategy follows no load, so that only caches differ between its
// passes.
func Still(strategy string) bool {
	name, _, _ := strings.Cut(strategy, ":")
	return name == "original" || name == "random"
}

// untested names the last passes of strategies that follow the load but had moved nothing
// until then.
func (r *Report) untested(rows []*row) (out []string) {
	last := make(map[string]*row)
	var order []string
	for _, w := range rows {
		key := fmt.Sprint(w.strategy, w.order, w.workload)
		if last[key] == nil {
			order = append(order, key)
		}
		last[key] = w
	}
	for _, key := range order {
		w := last[key]
		if n := len(w.passes); !Still(w.strategy) && !slices.ContainsFunc(w.passes, func(p *Pass) bool { return p.Moved > 0 }) {
			out = append(out, fmt.Sprintf("Not tested: what moves bring until %s. Nothing moved in %d of %d runs; the strategy said: %s.", w.name(), n, n, cmp.Or(w.passes[n-1].Why, "nothing")))
		}
	}
	return out
}

// Header returns the header of Rows.
func Header() []string { return header }

// WritePage writes the figures as one page.
func (r *Report) WritePage(w io.Writer) error {
	p := page.Page{
		Title: "Chapter 8 of the thesis on real processes",
		Lead: fmt.Sprintf("%s ad groups with %s keywords; a workload of %d queries is asked one query at a time, pass after pass, while the balancer works. The times of a slave are those of its search, as it counts them; those of the master are of the whole request over HTTP.",
			measure.Number(float64(r.Groups)), measure.Number(float64(r.Keywords)), Each),
		Made: []page.Made{{Command: r.Command, Commit: r.Commit, Packages: []string{"balance", "barrels", "search", "internal/node", "bench/passes", "bench/workload", "internal/corpus"},
			About: []string{r.Date, r.Machine, "load before: " + r.Load}}},
	}
	p.Verdict = r.verdict()
	t := &page.Table{Header: header}
	var g page.Group
	for _, row := range r.Rows() {
		g.Rows = append(g.Rows, page.Cells(row...))
	}
	t.Groups = []page.Group{g}
	p.Sections = append(p.Sections, page.Section{Title: "All recorded passes", Tables: []*page.Table{t}})
	for _, workload := range workloads {
		p.Sections = append(p.Sections, r.section(workload))
	}
	for _, o := range r.Runs {
		if o.Note != "" && !slices.Contains(p.Notes, o.Workload+": "+o.Note) {
			p.Notes = append(p.Notes, o.Workload+": "+o.Note)
		}
	}
	return p.Write(w)
}

// section draws the passes of a workload in their first runs. All slaves have the same scale,
// cut at the 99th percentile of all their times, and so do all masters.
func (r *Report) section(workload string) page.Section {
	s := page.Section{Title: "Workload " + workload, Note: "The first run. Axes end at the 99th percentile of the workload's times, so that single ones do not hide the others."}
	rows := slices.DeleteFunc(r.grouped(), func(w *row) bool { return w.workload != workload })
	var slaves, masters []float64
	for _, w := range rows {
		slaves, masters = append(slaves, slices.Concat(w.passes[0].Slaves...)...), append(masters, w.passes[0].Master...)
	}
	tops := [2]float64{1e3 * quantile(slaves, 0.99), quantile(masters, 0.99)}
	for _, w := range rows {
		for i, what := range []string{"slaves, µs", "master, ms"} {
			title := w.name() + ": " + what
			if f := w.figure()[i]; f != "" {
				title += " (" + f + ")"
			}
			c := chart.Chart{Title: title, XLabel: "query", Top: tops[i], Lines: w.passes[0].lines(i, tops[i])}
			s.Charts = append(s.Charts, page.Chart(c.SVG()))
		}
	}
	return s
}

// lines returns the lines of the slaves, in µs, if i is 0, or that of the master, in ms, if i
// is 1.
func (p *Pass) lines(i int, top float64) (out []chart.Line) {
	line := func(name string, values []float64, unit float64) {
		l := chart.Line{Name: name}
		for q, v := range values {
			l.X, l.Y = append(l.X, float64(q+1)), append(l.Y, min(unit*v, top))
		}
		out = append(out, l)
	}
	if i == 1 {
		line("master", p.Master, 1)
		return out
	}
	for n, values := range p.Slaves {
		line(fmt.Sprintf("slave-%d", n), values, 1e3)
	}
	return out
}
