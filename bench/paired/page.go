package paired

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"adshard/bench/chart"
	"adshard/bench/measure"
)

//go:embed page.html
var pageText string

// WritePage writes the result as one HTML page that needs nothing else: no
// network, no script.
func (r *Result) WritePage(w io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	p := page{Result: r, Points: r.Points(), Growths: r.growths(), GrowthCharts: r.growthCharts()}
	colors := r.colors()
	for _, s := range r.sections() {
		p.Sections = append(p.Sections, part{s.table(), []template.HTML{s.throughput(colors), s.latency(colors)}})
	}
	tables := r.spaces()
	for i, rows := range r.builds() {
		p.Spaces = append(p.Spaces, part{tables[i], spaceCharts(rows, colors)})
	}
	return t.Execute(w, p)
}

// page is what the template shows.
type page struct {
	*Result
	Points           *Table
	Sections, Spaces []part
	Growths          []*Table
	GrowthCharts     []template.HTML
}

// part is a table with charts.
type part struct {
	*Table
	Charts []template.HTML
}

// Palette indexes: our own layouts, the limit, the thesis' and other people's.
const (
	ours, limit, thesis, peers, plain = 2, 6, 0, 4, 5
)

// colors gives each layout its colour.
func (r *Result) colors() map[string]int {
	out := make(map[string]int)
	for i := range r.Rows {
		switch row := &r.Rows[i]; {
		case row.Peer:
			out[row.Name] = peers
		case row.Name == Floor:
			out[row.Name] = limit
		case row.Name == "B" || strings.HasPrefix(row.Name, "RDB-"):
			out[row.Name] = thesis
		case strings.HasPrefix(row.Name, "served"):
			out[row.Name] = ours
		default:
			out[row.Name] = plain
		}
	}
	return out
}

// fastestFirst are the section's rows by throughput.
func (s *section) fastestFirst() []*Row {
	rows := slices.Clone(s.rows)
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(b.QueriesPerSecond, a.QueriesPerSecond) })
	return rows
}

func (s *section) throughput(colors map[string]int) template.HTML {
	c := chart.Bars{Title: "Queries a second", Unit: "queries a second, with the extremes of the rounds (logarithmic)", Log: true}
	for _, r := range s.fastestFirst() {
		c.Bars = append(c.Bars, chart.Bar{Name: r.Name, Value: r.QueriesPerSecond, Least: r.Least.QueriesPerSecond,
			Most: r.Most.QueriesPerSecond, Color: colors[r.Name], Label: measure.Number(r.QueriesPerSecond)})
	}
	return template.HTML(c.SVG()) // SVG escapes its texts
}

func (s *section) latency(colors map[string]int) template.HTML {
	c := chart.Bars{Title: "Time of a query: p50, and paler p99", Unit: "µs (logarithmic)", Log: true}
	for _, r := range s.fastestFirst() {
		c.Bars = append(c.Bars, chart.Bar{Name: r.Name, Value: r.P50, To: r.P99, Color: colors[r.Name],
			Label: measure.Number(r.P50) + " · " + measure.Number(r.P99)})
	}
	return template.HTML(c.SVG())
}

func spaceCharts(rows []*Row, colors map[string]int) []template.HTML {
	disk := chart.Bars{Title: "On disk: read to match, and paler the rest", Unit: "bytes a keyword"}
	memory := chart.Bars{Title: "In memory", Unit: "bytes a keyword"}
	for _, row := range rows {
		b, color := row.BytesPerKeyword, colors[row.Name]
		if b.Disk > 0 {
			bar := chart.Bar{Name: row.Name, Value: b.Matching, To: b.Disk, Color: color, Label: measure.Number(b.Disk)}
			if b.Matching > 0 {
				bar.Label = measure.Number(b.Matching) + " of " + bar.Label
			}
			disk.Bars = append(disk.Bars, bar)
		}
		memory.Bars = append(memory.Bars, chart.Bar{Name: row.Name, Value: b.Memory, Color: color, Label: known(b.Memory)})
	}
	return []template.HTML{template.HTML(disk.SVG()), template.HTML(memory.SVG())}
}

// growthCharts draws median times by number of keywords, a chart a setup.
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
			c = &chart.Chart{Title: fmt.Sprintf("p50 in µs, %s (logarithmic)", g.setup), XLabel: "keywords", Steps: steps, Log: true}
			charts[g.setup], order = c, append(order, g.setup)
		}
		l := chart.Line{Name: g.name, Color: len(c.Lines)}
		for _, n := range sizes {
			if v, ok := g.p50[n]; ok {
				l.X, l.Y = append(l.X, float64(n)), append(l.Y, v)
			}
		}
		c.Lines = append(c.Lines, l)
	}
	for _, s := range order {
		out = append(out, template.HTML(charts[s].SVG()))
	}
	return out
}
