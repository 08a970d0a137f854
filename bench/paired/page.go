package paired

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the directories of the repository that the figures measure.
// Changes in them make the figures outdated.
var packages = []string{"auction", "barrels", "schema", "search"}

// WritePage writes the result as one self-contained HTML page: no network, no
// script.
func (r *Result) WritePage(w io.Writer) error {
	p := &page.Page{Title: r.title(), Verdict: r.verdict(), Terms: terms,
		Lead: "All were asked the same queries over the same keywords and gave the same matches before anything was timed. Figures are medians of rounds that take turns, with the extremes."}
	for _, made := range r.Runs {
		p.Made = append(p.Made, page.Made{Command: made.Command, Commit: known(made.Commit), Packages: packages, About: []string{
			made.Date, made.Machine, fmt.Sprintf("%d rounds, %g s for each layout and setup", made.Rounds, made.Seconds), "load before: " + known(made.Load)}})
		for _, n := range made.Notes {
			if !slices.Contains(p.Notes, n) {
				p.Notes = append(p.Notes, n)
			}
		}
	}
	for _, a := range r.Absent {
		p.Notes = append(p.Notes, "Left out: "+a.Name+". "+a.Why)
	}
	if points := r.Points(); len(points.Rows) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: points.Title, Tables: []*page.Table{points.judged()}})
	}
	for _, s := range r.sections() {
		p.Sections = append(p.Sections, page.Section{Title: s.title(), Tables: []*page.Table{s.grouped()},
			Charts: []template.HTML{s.throughput(), s.latency()}})
	}
	if growths := r.growths(); len(growths) > 0 {
		section := page.Section{Title: "Growth", Charts: r.growthCharts()}
		for _, t := range growths {
			section.Tables = append(section.Tables, t.plain())
		}
		p.Sections = append(p.Sections, section)
	}
	tables := r.spaces()
	for i, rows := range r.builds() {
		p.Sections = append(p.Sections, page.Section{Title: "Space: " + tables[i].Title, Tables: []*page.Table{tables[i].plain()}, Charts: spaceCharts(rows)})
	}
	return p.Write(w)
}

var terms = []page.Term{
	{Word: "×", Means: "How many times as fast as the layout of the column: the time of the same queries there, over the time here; the median of the rounds' own ratios. Below 1 is slower."},
	{Word: "floor", Means: "The limit of the idea on this machine, no layout to serve from: the postings of a query's anchors, 4 bytes a word, in memory in the order in which they are read, compared once. It is not among the best."},
	{Word: "once", Means: "A store that was just built is asked half of the queries to warm up, then the others under the clock: none is asked twice."},
	{Word: "served-expanded, served-prepared, served-mixed", Means: "As served: with the text made into terms inside each search; with what queries need cached before the first; with keywords of all match types and negatives, which finds less, so that it is not compared and not among the best."},
	{Word: "asked a round", Means: "A layout that cannot ask all queries within four times a round's time is stopped; it continues with others in the next one. Ratios are over queries that both were asked."},
	{Word: "to rest", Means: "A latency while keywords change, over that of the same round without changes."},
	{Word: "memory", Means: "What the process holds more after building and searching, or what the layout reports if that is more; of a peer, its own processes."},
}

// title returns a title that distinguishes the page from those of other
// results.
func (r *Result) title() string {
	var names, asked, sizes []string
	for _, row := range r.Rows {
		if !slices.Contains(names, row.Name) {
			names = append(names, row.Name)
		}
		setup := fmt.Sprintf("%s (%s queries)", row.Setup, count(row.Queries))
		if !slices.Contains(asked, setup) {
			asked = append(asked, setup)
		}
	}
	for _, n := range r.sizes() {
		sizes = append(sizes, count(n))
	}
	if len(asked) > 3 {
		asked = []string{fmt.Sprintf("%d setups", len(asked))}
	}
	who := "nothing"
	if len(names) > 0 {
		who = names[0]
	}
	switch n := len(names) - 1; {
	case n == 1:
		who += " beside " + names[1]
	case n > 1:
		who += fmt.Sprintf(" beside %d others", n)
	}
	return fmt.Sprintf("Keyword search: %s; %s; %s keywords", who, strings.Join(asked, ", "), strings.Join(sizes, ", "))
}

// known returns s, or "not recorded" if s is empty, as in older results.
func known(s string) string {
	if s == "" {
		return "not recorded"
	}
	return s
}

// The families of layouts, in the order of a page.
const (
	product = "the product"
	limit   = "the limit"
	thesis  = "the thesis' layouts"
	others  = "other layouts"
	systems = "other systems"
)

func (r *Row) family() string {
	switch {
	case r.Peer:
		return systems
	case r.Name == Floor:
		return limit
	case r.Name == Mapped || strings.HasPrefix(r.Name, "RDB-"):
		return thesis
	case strings.HasPrefix(r.Name, "served"):
		return product
	}
	return others
}

// competes reports whether a row can be the best. The floor cannot be served
// from, and a layout that finds less is not compared.
func (r *Row) competes() bool { return r.Name != Floor && r.Name != Mixed }

// grouped returns the section's table by families, with the best figures
// marked.
func (s *section) grouped() *page.Table {
	plain := s.table()
	t := &page.Table{Header: plain.Rows[0]}
	var rows [][]page.Cell
	columns := [][]float64{nil, nil, nil} // queries/s, p50, p99
	for _, family := range []string{product, limit, thesis, others, systems} {
		group := page.Group{Name: family}
		for i, row := range s.rows {
			if row.family() != family {
				continue
			}
			cells := page.Cells(plain.Rows[1+i]...)
			group.Rows = append(group.Rows, cells)
			if !row.competes() {
				continue
			}
			rows = append(rows, cells)
			for j, v := range []float64{row.QueriesPerSecond, row.P50, row.P99} {
				columns[j] = append(columns[j], v)
			}
		}
		if len(group.Rows) > 0 {
			t.Groups = append(t.Groups, group)
		}
	}
	page.MarkBest(rows, 1, columns[0], true)
	page.MarkBest(rows, 3, columns[1], false)
	page.MarkBest(rows, 4, columns[2], false)
	return t
}

// plain returns the table as a page's table with one group.
func (t *Table) plain() *page.Table {
	out := &page.Table{Title: t.Title, Note: t.Note, Header: t.Rows[0], Groups: make([]page.Group, 1)}
	for _, row := range t.Rows[1:] {
		out.Groups[0].Rows = append(out.Groups[0].Rows, page.Cells(row...))
	}
	return out
}

// judged returns the table of targets with missed targets marked.
func (t *Table) judged() *page.Table {
	out := t.plain()
	out.Title = ""
	for _, row := range out.Groups[0].Rows {
		for i := range row {
			row[i].Bad = row[i].Text == missed
		}
	}
	return out
}

// fastestFirst returns the section's rows by falling throughput.
func (s *section) fastestFirst() []*Row {
	rows := slices.Clone(s.rows)
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(b.QueriesPerSecond, a.QueriesPerSecond) })
	return rows
}

func (s *section) throughput() template.HTML {
	c := chart.Bars{Title: "Queries a second", Unit: "queries a second, with the extremes of the rounds"}
	for _, r := range s.fastestFirst() {
		c.Bars = append(c.Bars, chart.Bar{Name: r.Name, Value: r.QueriesPerSecond, Least: r.Least.QueriesPerSecond,
			Most: r.Most.QueriesPerSecond, Label: measure.Number(r.QueriesPerSecond)})
	}
	return page.Chart(c.SVG())
}

func (s *section) latency() template.HTML {
	c := chart.Bars{Title: "Time of a query: p50, and paler p99", Unit: "µs"}
	for _, r := range s.fastestFirst() {
		c.Bars = append(c.Bars, chart.Bar{Name: r.Name, Value: r.P50, To: r.P99, Label: measure.Number(r.P50) + " · " + measure.Number(r.P99)})
	}
	return page.Chart(c.SVG())
}

func spaceCharts(rows []*Row) []template.HTML {
	disk := chart.Bars{Title: "On disk: read to match, and paler the rest", Unit: "bytes a keyword"}
	memory := chart.Bars{Title: "In memory", Unit: "bytes a keyword"}
	for _, row := range rows {
		b := row.BytesPerKeyword
		if b.Disk > 0 {
			bar := chart.Bar{Name: row.Name, Value: b.Matching, To: b.Disk, Label: measure.Number(b.Disk)}
			if b.Matching > 0 {
				bar.Label = measure.Number(b.Matching) + " of " + bar.Label
			}
			disk.Bars = append(disk.Bars, bar)
		}
		memory.Bars = append(memory.Bars, chart.Bar{Name: row.Name, Value: b.Memory, Label: unlessZero(b.Memory)})
	}
	return []template.HTML{page.Chart(disk.SVG()), page.Chart(memory.SVG())}
}

// growthCharts draws median times by number of keywords, one chart for each
// setup.
func (r *Result) growthCharts() (out []template.HTML) {
	sizes := r.sizes()
	if len(sizes) < 2 {
		return nil
	}
	var steps []float64
	for _, n := range sizes {
		steps = append(steps, float64(n))
	}
	charts := map[string]*chart.Chart{}
	var order []string
	for _, g := range r.lines() {
		if len(g.p50) < 2 {
			continue
		}
		c := charts[g.setup]
		if c == nil {
			c = &chart.Chart{Title: fmt.Sprintf("p50 in µs, %s", g.setup), XLabel: "keywords", Steps: steps}
			charts[g.setup], order = c, append(order, g.setup)
		}
		l := chart.Line{Name: g.name}
		for _, n := range sizes {
			if v, ok := g.p50[n]; ok {
				l.X, l.Y = append(l.X, float64(n)), append(l.Y, v)
			}
		}
		c.Lines = append(c.Lines, l)
	}
	for _, s := range order {
		out = append(out, page.Chart(charts[s].SVG()))
	}
	return out
}
