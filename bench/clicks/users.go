package clicks

import (
	"math"
	"math/rand/v2"

	"adshard/auction"
)

// Users says how users click.
type Users struct {
	// Mean is the approximate click rate of a keyword's ad at the top.
	Mean float64
	// Deviations say how much the logarithms of click rates differ: by campaign, group,
	// keyword, and ad.
	Deviations [4]float64
	// Examination is how often users look at positions 1, 2, …
	Examination []float64
	// Changed is the share of the groups whose rates are drawn anew in the middle of the run.
	Changed float64
}

// maxRate is the highest click rate.
const maxRate = 0.6

// truth holds the users' click rates.
type truth struct {
	users *Users
	// ads holds the rates of each keyword's ads at the top, with all factors one; means holds
	// the mean of each keyword.
	ads   [][]float64
	means []float64
}

// truth draws the rates of a market. If changed is set, the changing groups have their
// second rates.
func (u *Users) truth(m *Market, seed uint64, changed bool) *truth {
	t := &truth{users: u, ads: make([][]float64, len(m.keywords)), means: make([]float64, len(m.keywords))}
	for i := range m.keywords {
		k := &m.keywords[i]
		version := uint64(0)
		if changed && rand.New(rand.NewPCG(seed, 100+k.Group)).Float64() < u.Changed {
			version = 1
		}
		log := math.Log(u.Mean) + u.effect(seed, 0, k.Campaign, 0) + u.effect(seed, 1, k.Group, version) + u.effect(seed, 2, k.Keyword, version)
		for _, ad := range k.ads {
			rate := min(maxRate, math.Exp(log+u.effect(seed, 3, ad<<24^k.Keyword, version)))
			t.ads[i] = append(t.ads[i], rate)
			t.means[i] += rate / float64(len(k.ads))
		}
	}
	return t
}

// effect returns how far, on a logarithmic scale, something differs from what it belongs to.
func (u *Users) effect(seed uint64, level int, id, version uint64) float64 {
	r := rand.New(rand.NewPCG(seed+version<<32, id*4+uint64(level)))
	return u.Deviations[level] * r.NormFloat64()
}

// worth is the expected return of showing a result once: bids and prices times the
// probability of a click, in micros.
type worth struct{ value, revenue float64 }

func (t *truth) worth(m *Market, q *query, won []auction.Placement) (w worth) {
	for _, p := range won {
		c := &q.candidates[p.Index]
		clicked := t.means[c.keyword] * t.felt(m, c, p.Position)
		w.value += float64(c.bid) * clicked
		w.revenue += float64(p.Price) * clicked
	}
	return w
}

// felt returns the share of the rate at the top that remains in a position, with the factors
// of the match type and of the words.
func (t *truth) felt(m *Market, c *candidate, position int) float64 {
	return t.users.Examination[position-1] * float64(m.keywords[c.keyword].match*c.variant) / 1e6
}

// binomial draws how many of n events happen, each with probability p.
func binomial(r *rand.Rand, n int, p float64) (k uint64) {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return uint64(n)
	}
	// The gaps between events are geometrically distributed.
	log := math.Log1p(-p)
	for at := 0.0; ; k++ {
		at += math.Floor(math.Log(1-r.Float64())/log) + 1
		if at > float64(n) {
			return k
		}
	}
}
