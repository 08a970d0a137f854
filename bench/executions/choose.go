package executions

import (
	"math"
	"math/rand/v2"

	"adshard/bench/layouts"
	"adshard/fault"
)

// random is the number of queries of RQ1600.
const random = 1600

// sequence says which of the log's queries a setup asks, and in which order.
type sequence struct {
	// queries holds indexes into the log; order holds indexes into queries, one for each
	// execution.
	queries, order []int
}

// choose returns the queries of each kind of setup. found holds the log's matches by
// number of slaves. As in the thesis, the repeated queries are the same in all sizes: the
// queries of two or three words in the log whose matches are closest to the thesis' by
// the sum of their ratios.
func (p *Plan) choose(found map[int][]layouts.Found) (map[string]sequence, error) {
	out := make(map[string]sequence)
	for _, name := range []string{sq1, sq2} {
		q, err := p.nearest(name, found)
		if err != nil {
			return nil, err
		}
		out[name] = sequence{queries: []int{q}, order: make([]int, p.Times)}
	}
	dice := rand.New(rand.NewPCG(p.Seed, 1600))
	a := sequence{queries: make([]int, random), order: make([]int, p.Times)}
	for i := range a.queries {
		a.queries[i] = dice.IntN(len(p.Log))
	}
	for i := range a.order {
		a.order[i] = dice.IntN(random)
	}
	out[rq1600] = a
	return out, nil
}

// nearest returns the query of the log whose matches are closest to the thesis', or the
// first of several equally close ones.
func (p *Plan) nearest(name string, found map[int][]layouts.Found) (int, error) {
	best, least := -1, math.Inf(1)
	for q := range found[1] {
		// Most queries are short; a long one reads many postings that are not matches.
		if n := len(p.Log[q].Words); n < 2 || n > 3 {
			continue
		}
		off := 0.0
		for _, slaves := range allSlaves {
			n := float64(found[slaves][q].Matches)
			if want := matches(name, slaves); want > 0 {
				off += math.Abs(math.Log(n / want))
			}
		}
		if off < least {
			best, least = q, off
		}
	}
	if best < 0 {
		return 0, fault.Newf(fault.Invalid, "executions: choose", "no query of two or three words in the log matches keywords in all three sizes, so that there is no %s: take more keywords", name)
	}
	return best, nil
}
