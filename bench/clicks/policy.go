package clicks

import (
	"math"
	"math/rand/v2"

	"adshard/backend"
	"adshard/quality"
)

// policy decides which quality each keyword has.
type policy struct {
	name, about string
	// fixed returns ranks that follow from what users do; nil if ranks are learned.
	fixed func(m *Market, t *truth, seed uint64) ranks
	learner
}

// learner says how qualities are learned.
type learner struct {
	quality.Options
	// flat: a keyword borrows from all others alike. exact: rates are not rounded to
	// qualities.
	flat, exact bool
}

// learned is the name of the proposed policy.
const learned = "learned"

// policies returns the policies to compare. The first knows the click rates.
func (p *Plan) policies() []policy {
	standard := quality.Options{HalfLife: p.HalfLife, Optimism: p.Optimism}
	with := func(change func(*learner)) learner {
		l := learner{Options: standard}
		change(&l)
		return l
	}
	return []policy{
		{name: "known", about: "the true click rates, unrounded: the most that can be had", fixed: func(_ *Market, t *truth, _ uint64) ranks { return ranksOfRates(t.means) }},
		{name: "known, ten steps", about: "the true click rates as qualities 1 to 10", fixed: stepped},
		{name: learned, about: "learned once a day from the clicks of the days before, as qualities 1 to 10", learner: with(func(*learner) {})},
		{name: "learned, unrounded", about: "as learned, but not rounded to ten steps", learner: with(func(l *learner) { l.exact = true })},
		{name: "learned, mean", about: "as learned, but what is known badly gets its mean, no bound above it", learner: with(func(l *learner) { l.Optimism = 0 })},
		{name: "learned, flat", about: "as learned, but a keyword borrows from all others alike, not from its group and campaign", learner: with(func(l *learner) { l.flat = true })},
		{name: "learned, positions ignored", about: "as learned, but as if users looked at all positions as often", learner: with(func(l *learner) { l.Examination = []float64{1} })},
		{name: "learned, nothing forgotten", about: "as learned, but counts do not decay", learner: with(func(l *learner) { l.HalfLife = 0 })},
		{name: "given", about: "what an advertiser might give: the true rates before the change as qualities, off by a factor of e^±0.5 (standard deviation)", fixed: guessed},
		{name: "all the same", about: "the default, 5", fixed: same},
		{name: "random", about: "the column of the corpus, which has nothing to do with the clicks", fixed: column},
	}
}

func stepped(_ *Market, t *truth, _ uint64) ranks {
	s := quality.ScaleOf(t.means)
	qualities := make([]uint8, len(t.means))
	for i, r := range t.means {
		qualities[i] = quality.Quality(s.Points(r), 0)
	}
	return ranksOf(qualities)
}

// guess is the standard deviation of the logarithm of the advertisers' error.
const guess = 0.5

// guessed returns qualities that advertisers guess once, before rates change.
func guessed(m *Market, t *truth, seed uint64) ranks {
	before := t.users.truth(m, seed, false)
	s := quality.ScaleOf(before.means)
	qualities := make([]uint8, len(before.means))
	for i, rate := range before.means {
		r := rand.New(rand.NewPCG(seed, ^m.keywords[i].Keyword))
		qualities[i] = quality.Quality(s.Points(rate*math.Exp(guess*r.NormFloat64())), 0)
	}
	return ranksOf(qualities)
}

func same(m *Market, _ *truth, _ uint64) ranks {
	qualities := make([]uint8, len(m.keywords))
	for i := range qualities {
		qualities[i] = backend.DefaultQuality
	}
	return ranksOf(qualities)
}

func column(m *Market, _ *truth, _ uint64) ranks {
	qualities := make([]uint8, len(m.keywords))
	for i := range qualities {
		qualities[i] = m.keywords[i].quality
	}
	return ranksOf(qualities)
}

// student learns the qualities of a market.
type student struct {
	learner
	market  *Market
	counts  quality.Counts
	present []uint8 // qualities; 0: none yet
	model   *quality.Model
	scale   quality.Scale
	changed int // keywords, on the last day
}

func newStudent(m *Market, l learner) *student {
	s := &student{learner: l, market: m, present: make([]uint8, len(m.keywords))}
	s.Factor = func(k quality.Key) float64 { return float64(m.keywords[m.index[k.Keyword]].match) / 1000 }
	return s
}

// key returns the key under which a keyword's counts are kept.
func (s *student) key(k *keyword, ad uint64) quality.Key {
	key := k.Key
	if s.flat {
		key.Campaign, key.Group = 1, 1
	}
	key.Ad = ad
	return key
}

// settled is the last day on which the scale still follows the learned rates.
const settled = 7

// forgotten is the number of half-lives after which days are dropped.
const forgotten = 10

// learn returns the ranks of a day, learned from the days before.
func (s *student) learn(day int) (ranks, error) {
	if s.HalfLife > 0 {
		s.counts.Drop(int32(day) - int32(forgotten*s.HalfLife))
	}
	var err error
	if s.model, err = quality.Learn(&s.counts, int32(day), s.Options); err != nil {
		return nil, err
	}
	rates, bounds := make([]float64, 0, len(s.present)), make([]float64, len(s.present))
	for i := range s.market.keywords {
		e := s.model.Estimate(s.key(&s.market.keywords[i], 0))
		bounds[i] = e.Bound
		if e.Level == quality.LevelKeyword {
			rates = append(rates, e.Rate)
		}
	}
	if s.exact {
		return ranksOfRates(bounds), nil
	}
	if day <= settled {
		s.scale = quality.ScaleOf(rates)
	}
	s.changed = 0
	for i, b := range bounds {
		q := quality.Quality(s.scale.Points(b), s.present[i])
		if q != s.present[i] {
			s.present[i], s.changed = q, s.changed+1
		}
	}
	return ranksOf(s.present), nil
}

// see counts what was shown and clicked when users asked a query n times on a day.
func (s *student) see(r *rand.Rand, t *truth, c *candidate, position, day, n int) error {
	k := &s.market.keywords[c.keyword]
	for i, ad := range k.ads {
		shown := n / (len(k.ads) - i)
		if rest := n % (len(k.ads) - i); rest > 0 && r.IntN(len(k.ads)-i) < rest {
			shown++
		}
		n -= shown
		clicks := binomial(r, shown, t.ads[c.keyword][i]*t.felt(s.market, c, position))
		cell := quality.Cell{Key: s.key(k, ad), Position: uint8(position), Day: int32(day)}
		if err := s.counts.Add(cell, quality.Count{Impressions: uint64(shown), Clicks: clicks}); err != nil {
			return err
		}
	}
	return nil
}
