package splitting

import (
	"fmt"
	"html/template"

	"adshard/bench/chart"
	"adshard/bench/claims"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the packages that the figures measure.
var packages = []string{"balance/splitkey", "barrels/rocks", "bench/splitting"}

func (p *Plan) page(r *measure.Report, about []string) *page.Page {
	list := p.claims()
	out := &page.Page{
		Title:   "Split keys: where a slice has half of its load on each side",
		Lead:    "The experiments of Cruz, Maia, Oliveira and Vilaça, “Workload-aware table splitting for NoSQL” (SAC 2014), with the estimates that slaves make. Keys are in the order of popularity.",
		Verdict: claims.Lines(list),
		Made:    []page.Made{{Command: r.Command, Commit: r.Commit, Packages: packages, About: about}},
		Terms:   terms,
		Sections: []page.Section{{Title: "The paper beside ours",
			Note:   "“There” is the first request after which the part of the requests up to the split key is 0.45 to 0.55.",
			Tables: []*page.Table{claims.Table(list)}}},
	}
	for i := range p.found {
		out.Sections = append(out.Sections, p.found[i].section(p.Seeds))
	}
	if len(p.nodes) > 0 {
		out.Sections = append(out.Sections, p.nodesSection())
	}
	return out
}

var terms = []page.Term{
	{Word: "linear", Means: "Each request moves the split key by one key."},
	{Word: "exponential", Means: "Each further step in one direction is twice as long as the one before."},
	{Word: "ping-pong(n)", Means: "Doubled steps until n steps in a row have each gone against the one before, linear ones from then on."},
	{Word: "off", Means: "How far the part of the requests up to the split key is from 0.5."},
	{Word: "rms", Means: "Root mean square, over requests 10,000 to 20,000."},
}

// drawn is the number of points of a line.
const drawn = 400

// section returns the section of a figure, with its lines for a fixed and a
// drawn first key, and its table.
func (f *found) section(seeds int) page.Section {
	s := page.Section{Title: fmt.Sprintf("Figure %d: %s", f.number, f.title),
		Note: fmt.Sprintf("The part of the requests up to the split key, of the first of %d seeds; 0.5 is ideal (key %s).",
			seeds, measure.Number(float64(f.of.At(0.5)+1)))}
	table := &page.Table{Header: []string{"method", "requests until there: median", "9 of 10", "rms: median", "9 of 10", "off at request 8,000: median", "9 of 10", "runs off by more than 0.1 then"}}
	for begin := 0; begin < len(f.outcomes); begin += len(f.methods) {
		list := f.outcomes[begin : begin+len(f.methods)]
		s.Charts = append(s.Charts, f.chart(list))
		group := page.Group{Name: list[0].first(&f.figure)}
		for i := range list {
			o := &list[i]
			group.Rows = append(group.Rows, page.Cells(o.method.String(), number(median(o.until)), number(quantile(o.until, 0.9)),
				fmt.Sprintf("%.3f", median(o.noise)), fmt.Sprintf("%.3f", quantile(o.noise, 0.9)),
				fmt.Sprintf("%.3f", median(o.off)), fmt.Sprintf("%.3f", quantile(o.off, 0.9)), fmt.Sprintf("%.0f %%", 100*above(o.off, 0.1))))
		}
		table.Groups = append(table.Groups, group)
	}
	s.Tables = []*page.Table{table}
	return s
}

func (f *found) chart(list []outcome) template.HTML {
	c := chart.Chart{Title: list[0].first(&f.figure), XLabel: "requests", Top: 1}
	for i := range list {
		l := chart.Line{Name: list[i].method.String()}
		for at := 0; at < requests; at += requests / drawn {
			l.X, l.Y = append(l.X, float64(at+1)), append(l.Y, list[i].line[at])
		}
		c.Lines = append(c.Lines, l)
	}
	c.Lines = append(c.Lines, chart.Line{Name: "ideal", X: []float64{1, requests}, Y: []float64{0.5, 0.5}, Dashed: true})
	return page.Chart(c.SVG())
}

// nodesSection returns the section for §4.2.
func (p *Plan) nodesSection() page.Section {
	s := page.Section{Title: "Figures 6 and 7: one table, two nodes",
		Note: fmt.Sprintf("%s records of 1,000 bytes, %s operations a round, 80 %% reads, Zipf 0.99, at most %s under way. Two stores of the product's RocksDB, which take turns so that each has the machine to itself and count as if they worked at the same time; no network.",
			measure.Number(float64(p.Nodes.Records)), measure.Number(float64(p.Nodes.Operations)), measure.Number(outstanding))}
	table := &page.Table{Header: []string{"placement", "last record of node 1", "operations/s", "beside one node", "computed", "node 1 works", "node 2 works"}}
	for begin := 0; begin+2 < len(p.nodes); begin += 3 {
		list := p.nodes[begin : begin+3]
		rates := chart.Bars{Title: list[0].order + " order: operations a second", Unit: "operations/s"}
		busy := chart.Bars{Title: list[0].order + " order: part of the time that nodes work", Unit: "of the time"}
		group := page.Group{Name: "keys in the order: " + list[0].order}
		for i := range list {
			n := &list[i]
			least, rate, most := measure.Rounds(n.rate)
			rates.Bars = append(rates.Bars, chart.Bar{Name: n.split, Label: number(rate), Value: rate, Least: least, Most: most})
			for j := range n.busy {
				part := median(n.busy[j])
				busy.Bars = append(busy.Bars, chart.Bar{Name: fmt.Sprintf("%s, node %d", n.split, j+1), Label: fmt.Sprintf("%.0f %%", 100*part), Value: part})
			}
			group.Rows = append(group.Rows, page.Cells(n.split, measure.Number(float64(n.last)), number(rate),
				fmt.Sprintf("%.2f ×", rate/median(list[0].rate)), fmt.Sprintf("%.2f ×", n.expected),
				fmt.Sprintf("%.0f %%", 100*median(n.busy[0])), fmt.Sprintf("%.0f %%", 100*median(n.busy[1]))))
		}
		s.Charts = append(s.Charts, page.Chart(rates.SVG()), page.Chart(busy.SVG()))
		table.Groups = append(table.Groups, group)
	}
	s.Tables = []*page.Table{table}
	return s
}
