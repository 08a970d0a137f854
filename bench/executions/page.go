package executions

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"adshard/bench/chart"
	"adshard/bench/claims"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the directories of the repository that the figures measure. Changes
// in them make the figures outdated.
var packages = []string{"bench/executions", "bench/layouts", "barrels", "search"}

// WritePage writes the figures as one page.
func (r *Report) WritePage(w io.Writer) error {
	list := r.claims()
	p := page.Page{
		Title: fmt.Sprintf("Chapter 7 of the thesis, %s to %s keywords: %d setups, each query %s times", measure.Number(float64(r.Keywords)),
			measure.Number(float64(keywordsOf(8, r.Keywords))), len(r.setups()), measure.Number(float64(r.Times))),
		Lead: fmt.Sprintf("The setups of section 7.2 with %s, %s and %s keywords instead of 10, 30 and 42 million (1S, 5S, 8S). Layouts are built and asked one after the other, on one thread; each answer is compared with a count over all keywords. Boxplots are of the latter half of the executions, in the run in the middle of %d.",
			measure.Number(float64(r.Keywords)), measure.Number(float64(keywordsOf(5, r.Keywords))), measure.Number(float64(keywordsOf(8, r.Keywords))), r.runs()),
		Verdict: claims.Lines(list), Notes: r.notes(), Terms: terms,
		Sections: []page.Section{{Title: "The thesis beside ours", Tables: []*page.Table{claims.Table(list)}}},
	}
	for _, m := range r.Runs {
		p.Made = append(p.Made, page.Made{Command: m.Command, Commit: m.Commit, Packages: packages, About: []string{m.Date, m.Machine, "load before: " + m.Load}})
	}
	p.Sections = append(p.Sections, r.open(), r.queries(), r.costs())
	for _, s := range r.setups() {
		p.Sections = append(p.Sections, r.section(s))
	}
	p.Sections = append(p.Sections, r.space())
	return p.Write(w)
}

var terms = []page.Term{
	{Word: "SQ1, SQ2, RQ1600", Means: "A query that is asked again and again, with few matches and with more; one of 1,600 queries of the log, drawn anew for each execution, in the same order for all layouts."},
	{Word: "1S, 5S, 8S", Means: "The keywords of one, five and eight of the thesis' slaves, 1 : 3 : 4.2."},
	{Word: "HR, LR", Means: "High and low resources: all in memory; 4 GB of memory for 2.5, 6.7 and 9.2 GB of data, here a cache of 0.6 (5S) or 0.43 (8S) of the layout's data before compression. 1S-LR fits in memory and is 1S-HR measured again."},
	{Word: "alike, slower, much slower", Means: "A ratio of medians below 1.2 and above 1 ÷ 1.2; of 1.2 and more; of 1.5 and more. What a claim says has to hold in all runs on all setups that it names; where it does on a setup in some runs only, it is not tested."},
	{Word: "boxplot", Means: "The box is from the first to the third quartile, with a line at the median; whiskers go to the outermost times within one and a half heights of the box (Tukey's; the thesis does not say which its are). Times beyond are counted in the table, not drawn. An arrow: the axis ends before."},
	{Word: "focused", Means: "The same boxplots, with an axis that ends at twice the upper whisker of RDB-Pr-Fl-Opt, as figure 7.4 is beside 7.2."},
	{Word: "evolution", Means: "The medians of each hundredth of the executions, in their order."},
}

// setups returns the names of the measured setups, in the thesis' order.
func (r *Report) setups() []string {
	return slices.DeleteFunc(Names(), func(s string) bool { return len(r.of(s)) == 0 })
}

// caches says what layouts in RocksDB keep in memory.
const caches = "RDB-Pr to RDB-Pr-NS, RDB-Pr-Cp and RDB-Pr-Fl-Told: RocksDB's default, a block cache of 8 MiB for each database, in LR too; behind it the pages of files. Indexes and filters are outside of it in the first database, as is RocksDB's default, and inside in the second until the thesis sets them outside, with its last step. RDB-Pr-In is RDB-Pr with them inside. RDB-Pr-NS-Opt, RDB-Pr-Fl-Opt and RDB-Pr-Cp-Opt change more than the thesis tells of: files and code made for what is all in memory; RDB-Pr-Fl-Told changes what it tells of, and nothing else."

func (r *Report) notes() []string {
	out := []string{
		caches,
		"LR: every 20 ms the system is asked to drop the pages of the layout's files (posix_fadvise), so that only the cache of the layout's own holds data, and what is not in it is read from the disk. The thesis' machines kept compressed files in the rest of their memory instead. What lies in memory only cannot be limited and is not asked there, nor is B, whose file is mapped; with 1S, where all fits, they are.",
		"Of LR's layouts RDB-Pr-NS-Opt, RDB-Pr-Fl-Opt and RDB-Pr-Cp-Opt lie in blocks compressed by LZ4, indexes and filters beside the cache; with all in memory they lie in tables made for that. The others lie alike in both.",
		"B is asked on all sizes; the thesis has it with one slave only, since its barrels could not be joined. RQ1600 is there for B and RDB-Pr-Fl-Opt only.",
		"Cap'n Proto's library for Go (capnproto.org/go/capnp/v3, MIT) is an alpha, v3.1.0-alpha.2 of October 2025; RDB-Pr-Cp reads with it, RDB-Pr-Cp-Opt with a reader of ours in C++.",
	}
	if short := r.short(); len(short) > 0 {
		out = append(out, fmt.Sprintf("Stopped after %s s with fewer executions than %s: %s.", measure.Number(r.Limit), measure.Number(float64(r.Times)), strings.Join(short, ", ")))
	}
	for name, why := range r.Absent {
		out = append(out, "Left out: "+name+". "+why)
	}
	return out
}

// short returns the outcomes with fewer executions than planned.
func (r *Report) short() (out []string) {
	for _, o := range r.Outcomes {
		if o.Executions < r.Times {
			out = append(out, fmt.Sprintf("%s on %s (%s)", o.Layout, o.Setup, measure.Number(float64(o.Executions))))
		}
	}
	return out
}

// figures names the thesis' figures with boxplots, by setup.
var figures = map[string]string{
	"SQ1-8S-HR": "figure 7.1; evolution: figure 7.8", "SQ1-1S-HR": "figures 7.2 and 7.4", "SQ2-8S-HR": "figure 7.3",
	"RQ1600-1S-HR": "figure 7.5", "RQ1600-8S-HR": "figure 7.6", "RQ1600-8S-LR": "figure 7.7",
}

// section returns the section of a setup.
func (r *Report) section(setup string) page.Section {
	s := page.Section{Title: setup, Note: figures[setup]}
	t := &page.Table{Header: Header(), Groups: make([]page.Group, 1)}
	var medians []float64
	for i, row := range r.Rows(setup) {
		t.Groups[0].Rows = append(t.Groups[0].Rows, page.Cells(row...))
		medians = append(medians, r.of(setup)[i].Box.Median)
	}
	page.MarkBest(t.Groups[0].Rows, 2, medians, false)
	s.Tables = []*page.Table{t}
	whole := chart.Boxes{Title: "Response times", Unit: "µs"}
	disk := chart.Chart{Title: "Evolution, RocksDB, µs", XLabel: "execution"}
	rest := chart.Chart{Title: "Evolution, others, µs", XLabel: "execution"}
	for _, o := range r.of(setup) {
		b := o.Box
		whole.Boxes = append(whole.Boxes, chart.Box{Name: o.Layout, Label: measure.Number(b.Median), Low: b.Low, Q1: b.Q1, Median: b.Median, Q3: b.Q3, High: b.High})
		c := &rest
		if strings.HasPrefix(o.Layout, "RDB-") {
			c = &disk
		}
		c.Lines = append(c.Lines, o.line())
	}
	s.Charts = append(s.Charts, page.Chart(whole.SVG()))
	if best := r.find(setup, flatOpt); best != nil {
		focused := whole
		focused.Title, focused.Top = "Response times, focused", 2*best.Box.High
		s.Charts = append(s.Charts, page.Chart(focused.SVG()))
	}
	for _, c := range []*chart.Chart{&disk, &rest} {
		if len(c.Lines) > 0 {
			s.Charts = append(s.Charts, page.Chart(c.SVG()))
		}
	}
	return s
}

// line returns the line of an outcome's evolution.
func (o *Outcome) line() chart.Line {
	l := chart.Line{Name: o.Layout, Y: o.Course.Medians}
	for i := range l.Y {
		l.X = append(l.X, float64((i+1)*o.Executions/len(l.Y)))
	}
	return l
}

// open returns the section on what section 9.3 of the thesis leaves to others.
func (r *Report) open() page.Section {
	t := &page.Table{Header: append([]string{"median time beside"}, r.setups()...), Groups: make([]page.Group, 1)}
	for _, pair := range [][2]string{
		{"RDB-Pr-Cp", flat}, {"RDB-Pr-Cp-Opt", flatOpt}, {"structs", flatOpt}, {"stateful", flatOpt}, {"LInK", flatOpt}, {"RInK", flatOpt}, {"served", flatOpt},
	} {
		row, known := []string{fmt.Sprintf("%s ÷ %s", pair[0], pair[1])}, false
		for _, s := range r.setups() {
			a, b := r.find(s, pair[0]), r.find(s, pair[1])
			if a == nil || b == nil {
				row = append(row, "–")
				continue
			}
			row, known = append(row, measure.Number(a.Box.Median/b.Box.Median)), true
		}
		if known {
			t.Groups[0].Rows = append(t.Groups[0].Rows, page.Cells(row...))
		}
	}
	return page.Section{Title: "What section 9.3 leaves open: Cap'n Proto, and a map instead of RocksDB", Tables: []*page.Table{t},
		Note: "Maps: stateful of bytes, LInK of objects, structs by the rarest word; RInK asks another store over the network of this machine."}
}

// queries returns the section on what was asked.
func (r *Report) queries() page.Section {
	t := &page.Table{Header: []string{"query", "1S", "5S", "8S", "the thesis"}, Groups: make([]page.Group, 1)}
	for _, a := range r.Queries {
		row := []string{a.Name}
		for _, at := range []string{"1S", "5S", "8S"} {
			cell := fmt.Sprintf("%s of %s", measure.Number(a.Matches[at]), measure.Number(a.Begin[at]))
			if a.None[at] > 0 {
				cell += fmt.Sprintf("; %s %% none", measure.Number(100*a.None[at]))
			}
			row = append(row, cell)
		}
		there := map[string]string{sq1: "2 (7.3.1: 6), 6, 14", sq2: "not told, 69, 136", rq1600: "none in up to 20 %"}
		t.Groups[0].Rows = append(t.Groups[0].Rows, page.Cells(append(row, there[a.Name])...))
	}
	return page.Section{Title: "Matches of a query, and keywords that begin with one of its words", Tables: []*page.Table{t},
		Note: "The repeated queries are the same ones in all sizes: those of two or three words of the log whose matches are nearest to the thesis'."}
}

// costs returns the section on where the time of random queries goes.
func (r *Report) costs() page.Section {
	t := &page.Table{Header: []string{"layout", "setup", "a query, µs", "a keyword that begins with a word of it, ns", "a match besides, ns"}, Groups: make([]page.Group, 1)}
	for _, s := range r.setups() {
		for _, o := range r.of(s) {
			if o.Cost != nil {
				t.Groups[0].Rows = append(t.Groups[0].Rows, page.Cells(o.Layout, s, measure.Number(o.Cost.Query), measure.Number(o.Cost.Keyword), measure.Number(o.Cost.Match)))
			}
		}
	}
	return page.Section{Title: "Where the time of random queries goes", Tables: []*page.Table{t},
		Note: "Least squares over the medians of the queries, relative to their times."}
}

// space returns the section for figure 7.9.
func (r *Report) space() page.Section {
	s := page.Section{Title: "Space", Note: "figure 7.9"}
	for _, setup := range []string{"SQ1-1S-HR", "SQ1-8S-HR"} {
		c := chart.Bars{Title: "On disk, " + setup[4:6], Unit: "bytes a keyword"}
		for _, o := range r.of(setup) {
			if o.Disk > 0 {
				c.Bars = append(c.Bars, chart.Bar{Name: o.Layout, Value: o.Disk, Label: measure.Number(o.Disk)})
			}
		}
		if len(c.Bars) > 0 {
			s.Charts = append(s.Charts, page.Chart(c.SVG()))
		}
	}
	return s
}
