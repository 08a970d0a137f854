package compare

import (
	_ "embed"
	"html/template"
	"io"

	"adshard/bench/chart"
)

//go:embed page.html
var pageText string

// WritePage writes the comparison as one HTML page that needs nothing else: no
// network, no script.
func (c *Comparison) WritePage(w io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	p := page{Comparison: c, Together: c.together(), Apart: c.apart(), StudyCharts: c.studyCharts()}
	if len(c.Runs) > 0 {
		p.Table = c.Rows()
	}
	if len(c.Study) > 0 {
		p.StudyTable = c.StudyRows()
	}
	return t.Execute(w, p)
}

// page is what the template shows.
type page struct {
	*Comparison
	Table, StudyTable [][]string
	// Together are charts with a line for each strategy, Apart are rows of
	// charts, one for each strategy at the same scale.
	Together    []template.HTML
	Apart       []row
	StudyCharts []row
}

type row struct {
	Title  string
	Charts []template.HTML
}

// together draws what is one line a strategy, with the bound where it is known.
func (c *Comparison) together() (out []template.HTML) {
	for _, of := range []string{MaxOverMean, TracedMaxOverMean, PerQuery, MovedItems, InFlight, MasterP50, MasterP99, Answers, Incomplete} {
		ch := chart.Chart{Title: of, XLabel: "seconds", Marks: c.Shifts}
		for i := range c.Runs {
			r := &c.Runs[i]
			for _, s := range r.Lines(of) {
				ch.Lines = append(ch.Lines, chart.Line{Name: r.Strategy, X: s.X, Y: s.Y, Color: i})
			}
			if of == MaxOverMean {
				for _, s := range r.Lines(LowerBound) {
					ch.Lines = append(ch.Lines, chart.Line{Name: "bound, " + r.Strategy, X: s.X, Y: s.Y, Color: i, Dashed: true})
				}
			}
		}
		if len(ch.Lines) > 0 {
			out = append(out, template.HTML(ch.SVG())) // SVG escapes its texts
		}
	}
	return out
}

// apart draws what is one line a slave.
func (c *Comparison) apart() (out []row) {
	for _, of := range []string{SlaveLoad, SlaveItems, SlaveP99} {
		line, most := row{Title: of}, 0.0
		for i := range c.Runs {
			for _, s := range c.Runs[i].Lines(of) {
				for _, y := range s.Y {
					most = max(most, y)
				}
			}
		}
		for i := range c.Runs {
			ch := chart.Chart{Title: c.Runs[i].Strategy, XLabel: "seconds", Marks: c.Shifts, Top: most, Width: 440}
			for j, s := range c.Runs[i].Lines(of) {
				ch.Lines = append(ch.Lines, chart.Line{Name: s.Name, X: s.X, Y: s.Y, Color: j})
			}
			if len(ch.Lines) > 0 {
				line.Charts = append(line.Charts, template.HTML(ch.SVG()))
			}
		}
		if len(line.Charts) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// studied is a quantity of the study that is drawn.
var studied = []struct {
	title string
	of    func(*Placed) float64
}{
	{"slowest slave of a query ÷ its bound, mean", func(p *Placed) float64 { return p.Expected }},
	{"p99 of the slowest slave ÷ p99 of the bound", func(p *Placed) float64 { return ratio(p.P99, p.BoundP99) }},
	{"queries a second, one at a time", func(p *Placed) float64 { return p.OneAtATime }},
	{"queries a second, busiest slave full", func(p *Placed) float64 { return p.Saturated }},
}

// studyCharts draws each quantity by number of slaves, a chart a workload.
func (c *Comparison) studyCharts() (out []row) {
	workloads, placements, slaves := c.studyAxes()
	for _, q := range studied {
		line := row{Title: q.title}
		for _, w := range workloads {
			ch := chart.Chart{Title: w, XLabel: "slaves", Steps: slaves, Width: 440}
			for i, placement := range placements {
				l := chart.Line{Name: placement, Color: i}
				for j := range c.Study {
					if p := &c.Study[j]; p.Workload == w && p.Placement == placement {
						l.X, l.Y = append(l.X, float64(p.Slaves)), append(l.Y, q.of(p))
					}
				}
				if len(l.X) > 0 {
					ch.Lines = append(ch.Lines, l)
				}
			}
			line.Charts = append(line.Charts, template.HTML(ch.SVG()))
		}
		if len(line.Charts) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// studyAxes returns what the study goes over, in order of appearance.
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
