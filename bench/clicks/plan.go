package clicks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adshard/bench/measure"
	"adshard/quality"
)

// Plan says what is simulated.
type Plan struct {
	Users Users
	// Days is the number of days, with Queries queries each; rates change in the middle.
	Days, Queries int
	// Runs is the number of runs. Each has its own users, from its own seed, the first being
	// Seed.
	Runs int
	Seed uint64
	// HalfLife and Optimism are those of quality.Options.
	HalfLife, Optimism float64

	market   *Market
	compared []policy
	courses  [][]*course // by policy and run
}

// Validate returns an error that lists all faults of a plan, or nil.
func (p *Plan) Validate() error {
	var list []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Errorf(format, args...))
		}
	}
	wrong(p.Days < 2 || p.Days > 1000, "--days %d: 2 to 1,000", p.Days)
	wrong(p.Queries < 1 || p.Queries > 10_000_000, "--day-queries %d: 1 to 10,000,000", p.Queries)
	wrong(p.Runs < 1 || p.Runs > 1000, "--runs %d: 1 to 1,000", p.Runs)
	wrong(!(p.Users.Mean > 0 && p.Users.Mean <= maxRate), "--rate %v: above 0, to %v", p.Users.Mean, maxRate)
	wrong(!(p.Users.Changed >= 0 && p.Users.Changed <= 1), "--changed %v: 0 to 1", p.Users.Changed)
	wrong(len(p.Users.Examination) == 0 || p.Users.Examination[0] != 1, "--examination: name each position's, the first's is 1")
	o := quality.Options{HalfLife: p.HalfLife, Optimism: p.Optimism, Examination: p.Users.Examination}
	return errors.Join(append(list, o.Validate())...)
}

// changeDay returns the first day with the changed rates.
func (p *Plan) changeDay() int { return p.Days / 2 }

// Run simulates a market and adds figures and findings to a report. It calls told with
// the share that is done.
func (p *Plan) Run(ctx context.Context, m *Market, r *measure.Report, told func(done float64)) error {
	p.market, p.compared = m, p.policies()
	p.courses = make([][]*course, len(p.compared))
	for i := range p.Runs {
		one := p.newRun(m, p.Seed+uint64(i))
		for j := range p.compared {
			c, err := one.course(ctx, &p.compared[j])
			if err != nil {
				return fmt.Errorf("%s: %w", p.compared[j].name, err)
			}
			p.courses[j] = append(p.courses[j], c)
			told(float64(i*len(p.compared)+j+1) / float64(p.Runs*len(p.compared)))
		}
	}
	p.report(r)
	return nil
}

// span is a range of days: from first to before last.
type span struct {
	name        string
	first, last int
}

// spans returns the ranges of days that the report tells apart.
func (p *Plan) spans() []span {
	week, change := min(7, p.Days/2), p.changeDay()
	return []span{
		{"all days", 0, p.Days},
		{"first week", 0, week},
		{"last week before the change", change - week, change},
		{"first week after the change", change, min(change+week, p.Days)},
		{"last week", p.Days - week, p.Days},
	}
}

// shares returns, for each run, a policy's worth in some days as a share of the worth of
// known rates.
func (p *Plan) shares(policy int, s span, of func(worth) float64) []float64 {
	list := make([]float64, p.Runs)
	for i := range list {
		own, best := 0.0, 0.0
		for day := s.first; day < s.last; day++ {
			own += of(p.courses[policy][i].days[day])
			best += of(p.courses[0][i].days[day])
		}
		list[i] = own / best
	}
	return list
}

func value(w worth) float64   { return w.value }
func revenue(w worth) float64 { return w.revenue }

// regret returns, for each run, what a policy has lost by the end of a day, in days of
// known rates.
func (p *Plan) regret(policy, day int) []float64 {
	list := make([]float64, p.Runs)
	for i := range list {
		for d := range day + 1 {
			best := p.courses[0][i].days[d].value
			list[i] += (best - p.courses[policy][i].days[d].value) / best
		}
	}
	return list
}

// of returns the index of the policy with a name, or -1.
func (p *Plan) of(name string) int {
	return slices.IndexFunc(p.compared, func(o policy) bool { return o.name == name })
}

// changes returns, for each run, the share of all keywords whose quality changed on an
// average day of a span.
func (p *Plan) changes(policy int, s span) []float64 {
	list := make([]float64, p.Runs)
	for i := range list {
		for _, n := range p.courses[policy][i].changed[s.first:s.last] {
			list[i] += float64(n) / float64(len(p.market.keywords)) / float64(s.last-s.first)
		}
	}
	return list
}

// report adds the figures to a report.
func (p *Plan) report(r *measure.Report) {
	percent := func(list []float64) []float64 {
		out := make([]float64, len(list))
		for i, v := range list {
			out[i] = 100 * v
		}
		return out
	}
	for i := range p.compared {
		name := p.compared[i].name
		for _, s := range p.spans() {
			r.AddRounds(name+": value, "+s.name, "% of known", percent(p.shares(i, s, value)))
		}
		r.AddRounds(name+": revenue, all days", "% of known", percent(p.shares(i, p.spans()[0], revenue)))
		r.AddRounds(name+": lost in all", "days of known", p.regret(i, p.Days-1))
	}
	i := p.of(learned)
	for _, s := range p.spans() {
		r.AddRounds("qualities that change a day, "+s.name, "% of keywords", percent(p.changes(i, s)))
	}
	for at, e := range p.Users.Examination {
		r.AddRounds(fmt.Sprintf("position %d, looked at %v times as often as the first: estimated", at+1, e), "", p.examined(at))
	}
	r.Note("%s keywords compete for %s queries; %.0f %% of what is asked has two advertisers or more, %.1f keywords on average",
		measure.Number(float64(len(p.market.keywords))), measure.Number(float64(len(p.market.queries))), 100*p.market.Contested, p.market.Candidates)
	for _, line := range p.findings() {
		r.Note("%s", line)
	}
}

// examined returns, for each run, what was learned about a position by the end.
func (p *Plan) examined(at int) (list []float64) {
	for _, c := range p.courses[p.of(learned)] {
		list = append(list, c.examination[at])
	}
	return list
}
