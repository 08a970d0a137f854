package compare

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists, by mode, the packages that produce the figures of a comparison. A change in
// these directories makes the figures outdated.
var packages = map[string][]string{
	"study":     {"balance", "search", "bench/compare", "bench/trace", "bench/workload", "internal/corpus"},
	"simulated": {"balance", "search", "bench/compare", "bench/trace", "bench/workload", "internal/corpus"},
	"processes": {"balance", "barrels", "search", "auction", "loadproxy", "internal/node", "bench/compare", "bench/workload", "internal/corpus"},
}

// WritePage writes the comparison as one self-contained HTML page: no network, no script.
func (c *Comparison) WritePage(w io.Writer) error {
	p := &page.Page{
		Title: c.title(), Lead: c.lead(), Verdict: c.verdict(), Notes: c.Notes,
		Made: []page.Made{{Command: c.Command, Commit: known(c.Commit), Packages: packages[c.Mode],
			About: []string{c.Date, c.Machine, "load before: " + known(c.Load)}}},
	}
	if len(c.Runs) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Figures", Note: "The best of each row is marked, where less or more is better.", Tables: []*page.Table{c.figures()}},
			page.Section{Title: "Over time", Charts: c.together()})
		p.Sections = append(p.Sections, c.apart()...)
	}
	if len(c.Study) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "By workload and number of slaves", Note: studyNote, Tables: []*page.Table{c.study()}})
		p.Sections = append(p.Sections, c.ranks())
		p.Sections = append(p.Sections, c.studyCharts()...)
		p.Sections = append(p.Sections, c.apartByStrategy()...)
	}
	if len(c.Iterations) > 0 {
		p.Sections = append(p.Sections, c.iterations())
	}
	p.Terms = terms
	for _, r := range c.Runs {
		for _, n := range r.Notes {
			p.Notes = append(p.Notes, r.Strategy+": "+n)
		}
		if len(r.Events) > 0 {
			p.Details = append(p.Details, page.Detail{Title: "What the balancer did: " + r.Strategy, Lines: r.Events})
		}
	}
	return p.Write(w)
}

const studyNote = "Each row is a placement of the groups, judged by all queries of a workload, those whose queries are nearest to their bounds on average first. “Random groups” puts each group on a slave at random and needs no balancer (five draws together); strategies have come to rest. " +
	"A ratio is the time at a query's slowest slave over that same query's own bound; its quantiles are over the queries, by how often they are asked. A cost that each slave has for each query, whatever it finds, draws all ratios towards 1; “work alone” has none."

var terms = []page.Term{
	{Word: "max/mean, and its bound", Means: "Load of the busiest slave over the mean. The bound is what no placement of whole ad groups can beat under that load."},
	{Word: "time to balance", Means: "From the start of the load (and from a change of the mix) until max/mean is at most 1.15, or 1.05 times the bound where that is more, and stays there."},
	{Word: "slowest slave of a query ÷ the query's bound", Means: "A query waits for its slowest slave. Its own bound is its whole work divided by the slaves, or its dearest group alone if that is more. 1 means that no placement answers it sooner. Over time: the sum over the queries of the one over the sum of the other, without what a search costs by itself."},
	{Word: "least that had to move", Means: "The least that any plan must move to get from where the groups lay to balance."},
	{Word: "thrash", Means: "Moves back to a slave that the groups had left within 10 iterations."},
	{Word: "from the start; after the shift", Means: "From the first plan, which knows no load, to rest under the load of the first mix; from there to rest after the next mix has taken its place. At most 9 % of all moves in an iteration, and moves take no time."},
	{Word: "moved at a join, at a leave", Means: "What moved when an empty slave came, in equal shares of all slaves; what moved when one left, over what it had. 1 is what must. The strategy original plans anew in the night that follows. A balancer that starts again has forgotten what queries look at together, and begins to learn it anew."},
	{Word: "returned", Means: "What came back to a slave that it had left within 10 iterations. A balancer of the product refuses most such moves; here none is refused."},
	{Word: "ads missed", Means: "Ads of the answers recorded at rest that were absent, doubled or priced otherwise in a complete answer of the same query."},
	{Word: "one at a time; busiest slave full", Means: "One divided by the mean time of a query's slowest slave; what can be answered when all slaves work all the time."},
}

// title returns a title that distinguishes the page from those of other comparisons.
func (c *Comparison) title() string {
	if c.Mode == "study" {
		workloads, _, slaves := c.studyAxes()
		title := fmt.Sprintf("Placements against each query's bound: %s; %s slaves", strings.Join(workloads, ", "), list(slaves))
		if c.Order != "" {
			title += "; keys by " + c.Order
		}
		return title
	}
	how := "real processes"
	if c.Mode == "simulated" {
		how = "simulated"
	}
	title := fmt.Sprintf("Balancing strategies compared: %s, %d slaves, %s keywords, %s", c.Workload, c.Slaves, measure.Number(float64(c.Keywords)), how)
	if c.Order != "" {
		title += "; keys by " + c.Order
	}
	return title
}

func list(values []float64) string {
	var out []string
	for _, v := range values {
		out = append(out, measure.Number(v))
	}
	return strings.Join(out, ", ")
}

func (c *Comparison) lead() string {
	var b strings.Builder
	if c.Workload != "" {
		fmt.Fprintf(&b, "Workload %s: %s (%s different queries). %d slaves, ", c.Workload, c.About, measure.Number(float64(c.Queries)), c.Slaves)
	}
	fmt.Fprintf(&b, "%s ad groups with %s keywords", measure.Number(float64(c.Groups)), measure.Number(float64(c.Keywords)))
	if c.Rate > 0 {
		fmt.Fprintf(&b, ", %s queries a second on average for %s s", measure.Number(c.Rate), measure.Number(c.Seconds))
	}
	switch c.Mode {
	case "processes":
		b.WriteString("; real processes on one machine.")
	case "simulated":
		b.WriteString("; a simulated cluster with the product's own balancer.")
	default:
		b.WriteString("; computed from what each query costs on each group.")
	}
	return b.String()
}

// known returns s, or "not recorded" if s is empty, as in older results.
func known(s string) string {
	if s == "" {
		return "not recorded"
	}
	return s
}

// kinds groups the figures of a run by the prefix of their names. better says whether a higher
// value is better (1), a lower one (-1), or neither (0).
var kinds = []struct {
	prefix, group string
	better        int
}{
	{"max/mean", "Balance", -1}, {"lower bound", "Balance", 0}, {"time to balance", "Balance", -1},
	{"slowest slave of a query", "What queries feel", -1}, {"p50 at", "What queries feel", -1}, {"p99 at", "What queries feel", -1},
	{"cost at a query's", "What queries feel", -1},
	{"ads ", "Answers", -1}, {"groups missed", "Answers", -1}, {"groups doubled", "Answers", -1}, {"incomplete", "Answers", -1},
	{"failed", "Answers", -1}, {"answers", "Answers", 0}, {"queries", "Answers", 0},
	{"moves", "Moves", 0}, {"cancelled", "Moves", -1}, {"groups moved", "Moves", 0}, {"bytes moved", "Moves", 0},
	{"data moved ÷", "Moves", -1}, {"data moved", "Moves", 0}, {"least that", "Moves", 0}, {"thrash", "Moves", -1},
}

// figures returns the table of the runs, grouped, with the best value of each row marked.
func (c *Comparison) figures() *page.Table {
	t := &page.Table{Header: []string{"", "unit"}}
	for _, r := range c.Runs {
		t.Header = append(t.Header, r.Strategy)
	}
	for _, f := range c.names() {
		group, better := "Resources", -1
		for _, k := range kinds {
			if strings.HasPrefix(f.Name, k.prefix) {
				group, better = k.group, k.better
				break
			}
		}
		at := slices.IndexFunc(t.Groups, func(g page.Group) bool { return g.Name == group })
		if at < 0 {
			at = len(t.Groups)
			t.Groups = append(t.Groups, page.Group{Name: group})
		}
		t.Groups[at].Rows = append(t.Groups[at].Rows, c.figure(f, better))
	}
	return t
}

func (c *Comparison) figure(f measure.Figure, better int) []page.Cell {
	row := page.Cells(f.Name, f.Unit)
	values := make([]float64, len(c.Runs))
	for i := range c.Runs {
		v, ok := c.Runs[i].Find(f.Name)
		cell := page.Cell{Text: "–"}
		if values[i] = math.NaN(); ok {
			values[i], cell.Text = v, measure.Number(v)
		}
		row = append(row, cell)
	}
	equal := !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
	for i, best := range page.Best(values, better > 0) {
		row[2+i].Best = best && better != 0 && !equal
	}
	return row
}

// together draws the charts with one line per strategy, with the bound where it is known.
func (c *Comparison) together() (out []template.HTML) {
	for _, of := range []string{MaxOverMean, TracedMaxOverMean, PerQuery, MovedItems, InFlight, MasterP50, MasterP99, Answers, Incomplete} {
		ch := chart.Chart{Title: of, XLabel: "seconds", Marks: c.Shifts}
		for i := range c.Runs {
			r := &c.Runs[i]
			for _, s := range r.Lines(of) {
				ch.Lines = append(ch.Lines, chart.Line{Name: r.Strategy, X: s.X, Y: s.Y})
			}
			if of == MaxOverMean {
				for _, s := range r.Lines(LowerBound) {
					ch.Lines = append(ch.Lines, chart.Line{Name: "bound, " + r.Strategy, Of: r.Strategy, X: s.X, Y: s.Y, Dashed: true})
				}
			}
		}
		computed := c.Mode == "simulated" && (of == MasterP50 || of == MasterP99)
		if len(ch.Lines) > 0 && !(computed && alike(ch.Lines)) {
			out = append(out, page.Chart(ch.SVG()))
		}
	}
	return out
}

// alike reports whether there are several lines and all are the same: a simulation in which no
// slave is busy computes the same latencies for all strategies.
func alike(lines []chart.Line) bool {
	for _, l := range lines {
		for i, y := range l.Y {
			if i >= len(lines[0].Y) || measure.Number(y) != measure.Number(lines[0].Y[i]) {
				return false
			}
		}
	}
	return len(lines) > 1
}

// apart draws the charts with one line per slave: one chart for each strategy, all at the same
// scale.
func (c *Comparison) apart() (out []page.Section) {
	for _, of := range []string{SlaveLoad, SlaveItems, SlaveP99} {
		section, most := page.Section{Title: of}, 0.0
		for i := range c.Runs {
			for _, s := range c.Runs[i].Lines(of) {
				most = max(most, slices.Max(s.Y))
			}
		}
		for i := range c.Runs {
			ch := chart.Chart{Title: c.Runs[i].Strategy, XLabel: "seconds", Marks: c.Shifts, Top: most}
			for _, s := range c.Runs[i].Lines(of) {
				ch.Lines = append(ch.Lines, chart.Line{Name: s.Name, X: s.X, Y: s.Y})
			}
			if len(ch.Lines) > 0 {
				section.Charts = append(section.Charts, page.Chart(ch.SVG()))
			}
		}
		if len(section.Charts) > 0 {
			out = append(out, section)
		}
	}
	return out
}
