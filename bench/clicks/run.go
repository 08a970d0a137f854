package clicks

import (
	"context"
	"math/rand/v2"
	"sort"

	"adshard/auction"
)

// course is the result of a policy in one run.
type course struct {
	days    []worth // by day, all queries together
	changed []int   // keywords whose quality changed, by day
	// examination is what the learner has learned about positions by the end.
	examination []float64
}

// run is one run, with users and queries from one seed.
type run struct {
	plan   *Plan
	market *Market
	seed   uint64
	truths [2]*truth // before the change and after it
	asked  [][]int   // by day: how often each query is asked
}

func (p *Plan) newRun(m *Market, seed uint64) *run {
	r := &run{plan: p, market: m, seed: seed}
	for i := range r.truths {
		r.truths[i] = p.Users.truth(m, seed, i == 1)
	}
	draw := rand.New(rand.NewPCG(seed, 1))
	total := m.queries[len(m.queries)-1].upTo
	for range p.Days {
		asked := make([]int, len(m.queries))
		for range p.Queries {
			at := draw.Float64() * total
			asked[min(sort.Search(len(m.queries), func(i int) bool { return m.queries[i].upTo > at }), len(asked)-1)]++
		}
		r.asked = append(r.asked, asked)
	}
	return r
}

// truth returns the users' click rates on a day.
func (r *run) truth(day int) *truth {
	if day >= r.plan.changeDay() {
		return r.truths[1]
	}
	return r.truths[0]
}

// course runs a policy through all days.
func (r *run) course(ctx context.Context, p *policy) (*course, error) {
	out := new(course)
	s := newStudent(r.market, p.learner)
	clicks := rand.New(rand.NewPCG(r.seed, 2))
	for day := range r.plan.Days {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var ranks ranks
		var err error
		if p.fixed != nil {
			ranks = p.fixed(r.market, r.truth(day), r.seed)
		} else if ranks, err = s.learn(day); err != nil {
			return nil, err
		}
		w, err := r.day(day, ranks, s, p.fixed == nil, clicks)
		if err != nil {
			return nil, err
		}
		out.days, out.changed = append(out.days, w), append(out.changed, s.changed)
	}
	if s.model != nil {
		for i := range r.plan.Users.Examination {
			out.examination = append(out.examination, s.model.Examination(i+1))
		}
	}
	return out, nil
}

// day returns the expected worth of a day. If learns is set, the student sees what
// happens on that day.
func (r *run) day(day int, ranks ranks, s *student, learns bool, clicks *rand.Rand) (sum worth, err error) {
	truth := r.truth(day)
	var list []auction.Candidate
	for i, n := range r.asked[day] {
		q := &r.market.queries[i]
		if n == 0 || len(q.candidates) == 0 {
			continue
		}
		list = list[:0]
		won := r.market.auction(q, ranks, len(r.plan.Users.Examination), list)
		w := truth.worth(r.market, q, won)
		sum.value += float64(n) * w.value
		sum.revenue += float64(n) * w.revenue
		if !learns {
			continue
		}
		for _, p := range won {
			if err := s.see(clicks, truth, &q.candidates[p.Index], p.Position, day, n); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}
