package esdb

import (
	"context"
	"fmt"
	"html/template"
	"io"

	"adshard/bench/chart"
	"adshard/bench/claims"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the packages that the figures measure.
var packages = []string{"bench/esdb", "bench/skew"}

// Run repeats the experiments and adds their figures and claims to a report.
func (p *Plan) Run(ctx context.Context, r *measure.Report) error {
	if err := p.simulate(ctx); err != nil {
		return err
	}
	for _, at := range points() {
		out, name := p.results[at], at.name()
		r.Add(name+"throughput", "writes/s", out.Throughput)
		r.Add(name+"delay", "s", out.Delay)
		if !at.minutes {
			r.Add(name+"nodes, standard deviation", "executions/s", deviation(out.Nodes))
			r.Add(name+"shards, standard deviation", "writes/s", deviation(out.Shards))
		}
	}
	for _, policy := range policies {
		r.Add(fmt.Sprintf("shard sizes, %v: largest ÷ smallest", policy), "", ratio(p.sizes[policy]))
	}
	claims.Note(r, p.claims())
	return nil
}

// name returns the prefix of the names of a point's figures.
func (at point) name() string {
	if at.minutes {
		return fmt.Sprintf("figure 14, %v, θ %g: ", at.policy, at.theta)
	}
	return fmt.Sprintf("%v, %v, θ %g, %s tenants, %s writes/s: ", at.policy, at.model, at.theta, whole(float64(at.tenants)), whole(at.rate))
}

// WritePage writes what Run found as one HTML page; `about` gives the date, the
// machine and the like.
func (p *Plan) WritePage(w io.Writer, r *measure.Report, about []string) error {
	list := p.claims()
	out := &page.Page{
		Title:   "Tenants over shards: hashing, double hashing, dynamic secondary hashing",
		Lead:    "The experiments of the paper on ESDB (2022) in simulated time: 8 nodes, 512 shards with a replica each, 3 clients, tenants of Zipf sizes. No store and no network are behind these figures.",
		Verdict: claims.Lines(list),
		Made:    []page.Made{{Command: r.Command, Commit: r.Commit, Packages: packages, About: about}},
		Terms:   terms,
		Sections: []page.Section{{Title: "The paper beside ours", Tables: []*page.Table{claims.Table(list)}},
			p.figure10(), p.figure11(), p.figure12(), p.figure13(), p.figure14(), p.figure16()},
	}
	return out.Write(w)
}

var terms = []page.Term{
	{Word: "hashing", Means: "A tenant's records are all in one shard."},
	{Word: "double hashing", Means: "Each tenant's records are spread over 8 shards."},
	{Word: "dynamic", Means: "Tenants are spread over 1, 2, 4, … shards, as rules say that follow their part of what is stored and written; nothing shrinks or moves."},
	{Word: "θ", Means: "The k-th tenant has a part in proportion to 1/k^θ."},
	{Word: "generators wait", Means: fmt.Sprintf("No writes are made while the client's queue has %s; otherwise it has no limit.", whole(buffer))},
}

// lines draws a line for each policy.
func lines(title, x string, steps []float64, of func(Policy) []float64) template.HTML {
	c := chart.Chart{Title: title, XLabel: x, Steps: steps}
	for _, policy := range policies {
		c.Lines = append(c.Lines, chart.Line{Name: policy.String(), X: steps, Y: of(policy)})
	}
	return page.Chart(c.SVG())
}

// thousands returns the rates in thousands.
func thousands() (out []float64) {
	for _, r := range rates {
		out = append(out, r/1000)
	}
	return out
}

func (p *Plan) figure10() page.Section {
	s := page.Section{Title: "Figure 10: more and more writes, θ = 1", Note: "Writes acknowledged, and mean delay, by the rate at which they are offered."}
	for _, m := range models {
		by := func(of func(*Result) float64, scale float64) func(Policy) []float64 {
			return func(policy Policy) (out []float64) {
				for _, rate := range rates {
					out = append(out, scale*of(p.at(m, policy, skewed, rate)))
				}
				return out
			}
		}
		s.Charts = append(s.Charts, lines("1,000 writes/s; "+m.String(), "1,000 writes/s offered", thousands(), by(throughput, 1e-3)),
			lines("delay, s; "+m.String(), "1,000 writes/s offered", thousands(), by(delay, 1)))
	}
	return s
}

func (p *Plan) figure11() page.Section {
	s := page.Section{Title: "Figure 11: more and more skew, 160,000 writes/s offered", Note: fmt.Sprintf("Simulated for %v each.", p.Duration)}
	table := &page.Table{Header: []string{"policy"}}
	for _, theta := range thetas {
		table.Header = append(table.Header, fmt.Sprintf("θ = %g: writes/s", theta), "delay, s")
	}
	group := func(name string, m model, rate float64) {
		g := page.Group{Name: name}
		for _, policy := range policies {
			row := []string{policy.String()}
			for _, theta := range thetas {
				r := p.at(m, policy, theta, rate)
				row = append(row, whole(r.Throughput), fmt.Sprintf("%.3f", r.Delay))
			}
			g.Rows = append(g.Rows, page.Cells(row...))
		}
		table.Groups = append(table.Groups, g)
	}
	for _, m := range models {
		group(m.String(), m, offered)
		s.Charts = append(s.Charts, lines("1,000 writes/s; "+m.String(), "θ", thetas[:], func(policy Policy) []float64 {
			return p.over(m, policy, offered, func(r *Result) float64 { return r.Throughput / 1000 })
		}))
	}
	group(fmt.Sprintf("%s writes/s offered, %v", whole(room), unlimited), unlimited, room)
	s.Tables = []*page.Table{table}
	return s
}

func (p *Plan) figure12() page.Section {
	by := func(of func(*Result) []float64) func(Policy) []float64 {
		return func(policy Policy) []float64 {
			return p.over(waiting, policy, offered, func(r *Result) float64 { return deviation(of(r)) })
		}
	}
	return page.Section{Title: "Figure 12: how uneven nodes and shards are", Note: "Standard deviations at 160,000 writes/s offered, where generators wait.",
		Charts: []template.HTML{
			lines("nodes, executions/s", "θ", thetas[:], by(func(r *Result) []float64 { return r.Nodes })),
			lines("shards, writes/s", "θ", thetas[:], by(func(r *Result) []float64 { return r.Shards })),
		}}
}

func (p *Plan) figure13() page.Section {
	s := page.Section{Title: "Figure 13: nodes and shards at θ = 1", Note: "Executions of each node and which part of the time it works; sizes of shards in the order of size, the mean is 1."}
	for _, policy := range policies {
		r := p.at(waiting, policy, skewed, offered)
		bars := chart.Bars{Title: policy.String(), Unit: "executions/s"}
		for i, v := range r.Nodes {
			bars.Bars = append(bars.Bars, chart.Bar{Name: fmt.Sprintf("node %d", i+1), Value: v, Label: fmt.Sprintf("%s, works %.0f %% of the time", whole(v), 100*r.Busy[i])})
		}
		s.Charts = append(s.Charts, page.Chart(bars.SVG()))
	}
	c := chart.Chart{Title: "sizes of shards", XLabel: "shards, the largest first", Top: 5}
	for _, policy := range policies {
		l := chart.Line{Name: policy.String()}
		for i, v := range descending(p.sizes[policy]) {
			l.X, l.Y = append(l.X, float64(i+1)), append(l.Y, v*shards)
		}
		c.Lines = append(c.Lines, l)
	}
	s.Charts = append(s.Charts, page.Chart(c.SVG()))
	return s
}

func (p *Plan) figure14() page.Section {
	s := page.Section{Title: "Figure 14: two groups of hot tenants in six minutes",
		Note: fmt.Sprintf("%s writes/s offered. Tenants are even at first; from %v on they are skewed, from %v on other tenants are the large ones. Writes are looked at every %v, and rules take effect %v later.",
			whole(room), firstHot, secondHot, usual().Period, usual().Ahead)}
	for _, theta := range hotter {
		c := chart.Chart{Title: fmt.Sprintf("1,000 writes/s, θ = %g", theta), XLabel: "seconds", Marks: []float64{firstHot.Seconds(), secondHot.Seconds()}, Top: 150}
		for _, policy := range policies {
			l := chart.Line{Name: policy.String()}
			for i, v := range p.course(policy, theta).Seconds {
				l.X, l.Y = append(l.X, float64(i)), append(l.Y, v/1000)
			}
			c.Lines = append(c.Lines, l)
		}
		s.Charts = append(s.Charts, page.Chart(c.SVG()))
	}
	return s
}

// drawnRanks lists the tenants for which figure 16 is drawn.
var drawnRanks = []float64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000}

func (p *Plan) figure16() page.Section {
	by := func(of func(*tenantQueries, Policy) float64) func(Policy) []float64 {
		return func(policy Policy) (out []float64) {
			for _, rank := range drawnRanks {
				out = append(out, of(&p.queries[int(rank)-1], policy))
			}
			return out
		}
	}
	return page.Section{Title: "Figure 16: queries of the top 2,000 tenants",
		Note: fmt.Sprintf("Computed, not simulated: what the busiest node has time for, as a multiple of the subqueries that one node does. 40,000,000 rows, θ = 1; a query costs %.2f subqueries of coordination.", coordination),
		Charts: []template.HTML{
			lines("subqueries of a query", "tenant, by size", drawnRanks, by(func(q *tenantQueries, policy Policy) float64 { return float64(q.subqueries[policy]) })),
			lines("queries; all subqueries cost the same", "tenant, by size", drawnRanks, by(func(q *tenantQueries, policy Policy) float64 { return q.fixed[policy] })),
			lines("queries; a subquery costs one more for each 100,000 rows", "tenant, by size", drawnRanks, by(func(q *tenantQueries, policy Policy) float64 { return q.byRows[policy] })),
		}}
}
