package splitting

import (
	"context"
	"fmt"
	"io"

	"adshard/bench/claims"
	"adshard/bench/measure"
)

// Plan says which experiments are repeated.
type Plan struct {
	// Seeds is the number of runs of each estimate of figures 1 to 5.
	Seeds int
	// Nodes is the experiment of §4.2; with 0 records it is left out.
	Nodes Nodes

	found []found
	nodes []scenario
}

// found is a figure with its results.
type found struct {
	figure
	outcomes []outcome
}

// Validate returns an error if a plan is not valid.
func (p *Plan) Validate() error {
	switch n := &p.Nodes; {
	case p.Seeds < 1 || p.Seeds > 10_000:
		return fmt.Errorf("--seeds %d: 1 to 10,000", p.Seeds)
	case n.Records != 0 && (n.Records < 1000 || n.Records > 100_000_000):
		return fmt.Errorf("--records %d: 1,000 to 100,000,000, or 0 to leave the two nodes out", n.Records)
	case n.Operations < 1000:
		return fmt.Errorf("--operations %d: 1,000 or more", n.Operations)
	case n.Rounds < 1:
		return fmt.Errorf("--rounds %d: 1 or more", n.Rounds)
	}
	return nil
}

// Run repeats the experiments and adds their figures and claims to a report.
func (p *Plan) Run(ctx context.Context, r *measure.Report) (err error) {
	for _, f := range figures() {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.found = append(p.found, found{f, f.outcomes(p.Seeds)})
	}
	if p.Nodes.Records > 0 {
		if p.nodes, err = p.Nodes.run(ctx); err != nil {
			return err
		}
	}
	p.report(r)
	claims.Note(r, p.claims())
	return nil
}

// name returns the prefix of the names of an outcome's figures.
func (o *outcome) name(f *figure) string {
	return fmt.Sprintf("figure %d, %v, %s: ", f.number, o.method, o.first(f))
}

// first says with which key an outcome's estimates began.
func (o *outcome) first(f *figure) string {
	if o.drawn {
		return "first key drawn"
	}
	return "first key " + measure.Number(float64(f.first))
}

func (s *scenario) name() string { return s.order + " order, " + s.split + ": " }

// report adds the figures to a report.
func (p *Plan) report(r *measure.Report) {
	for i := range p.found {
		f := &p.found[i]
		for j := range f.outcomes {
			o := &f.outcomes[j]
			r.AddRounds(o.name(&f.figure)+"requests until within 0.05", "", o.until)
			r.AddRounds(o.name(&f.figure)+"rms over the last half", "of the requests", o.noise)
			r.AddRounds(o.name(&f.figure)+"off at request 8,000", "of the requests", o.off)
		}
	}
	for i := range p.nodes {
		s := &p.nodes[i]
		r.Add(s.name()+"last position on node 1", "", float64(s.last))
		r.AddRounds(s.name()+"throughput", "operations/s", s.rate)
		r.Add(s.name()+"expected beside one node", "×", s.expected)
		r.AddRounds(s.name()+"node 1 works", "of the time", s.busy[0])
		r.AddRounds(s.name()+"node 2 works", "of the time", s.busy[1])
	}
}

// WritePage writes what Run found as one HTML page; `about` gives the date, the
// machine and the like.
func (p *Plan) WritePage(w io.Writer, r *measure.Report, about []string) error {
	return p.page(r, about).Write(w)
}
