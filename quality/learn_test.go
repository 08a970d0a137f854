package quality_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/quality"
)

// slow is the model for a given examination and strength, computed from the formulas without any
// order or cache.
type slow struct {
	list  []counted
	today int32
	quality.Options
}

// sums returns what was counted for a key and everything below it.
func (s *slow) sums(k quality.Key) (impressions, clicks, examined float64) {
	in := func(of, id uint64) bool { return of == 0 || of == id }
	for _, n := range s.list {
		if !in(k.Campaign, n.Campaign) || !in(k.Group, n.Group) || !in(k.Keyword, n.Keyword) || !in(k.Ad, n.Ad) {
			continue
		}
		w := 1.0
		if age := s.today - n.Day; s.HalfLife > 0 && age > 0 {
			w = math.Pow(0.5, float64(age)/s.HalfLife)
		}
		impressions += w * float64(n.Impressions)
		clicks += w * float64(n.Clicks)
		examined += w * float64(n.Impressions) * s.Examination[min(int(n.Position), len(s.Examination))-1] * byKeyword(n.Key)
	}
	return impressions, clicks, examined
}

// estimate returns the mean and the relative variance.
func (s *slow) estimate(k quality.Key) (mean, spread float64) {
	_, clicks, examined := s.sums(k)
	up, upSpread, strength := s.Prior, 1.0, 1.0
	if owner := (quality.Key{}); k != owner {
		switch {
		case k.Ad != 0:
			owner = quality.Key{Campaign: k.Campaign, Group: k.Group, Keyword: k.Keyword}
		case k.Keyword != 0:
			owner = quality.Key{Campaign: k.Campaign, Group: k.Group}
		case k.Group != 0:
			owner = quality.Key{Campaign: k.Campaign}
		}
		up, upSpread = s.estimate(owner)
		strength = s.Strength
	}
	prior := strength / up
	mean = min(1, (clicks+strength)/(examined+prior))
	return mean, 1/(clicks+strength) + prior*prior/(examined+prior)/(examined+prior)*upSpread
}

// byKeyword is a factor that differs between keywords.
func byKeyword(k quality.Key) float64 { return 1 - 0.1*float64(k.Keyword%3) }

func near(a, b, part float64) bool { return math.Abs(a-b) <= part*math.Max(math.Abs(a), math.Abs(b)) }

// TestEstimateIsTheOracles: estimates equal the oracle's for keys that were shown and for others,
// whatever was counted.
func TestEstimateIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := slow{list: drawCounts(t), today: rapid.Int32Range(-5, 25).Draw(t, "today"), Options: quality.Options{
			HalfLife:    rapid.SampledFrom([]float64{0, 0.5, 7}).Draw(t, "half-life"),
			Examination: rapid.SliceOfN(rapid.Float64Range(0.01, 1), 1, 5).Draw(t, "examination"),
			Strength:    rapid.Float64Range(1, 1000).Draw(t, "strength"),
			Prior:       rapid.Float64Range(1e-6, 1).Draw(t, "prior"),
			Optimism:    rapid.Float64Range(0, 3).Draw(t, "optimism"),
			Factor:      byKeyword,
		}}
		counts := collected(t, s.list)
		s.list = nil // because its sums do not saturate
		for c, n := range counts.All() {
			s.list = append(s.list, counted{c, n})
		}
		m, err := quality.Learn(counts, s.today, s.Options)
		if err != nil {
			t.Fatal(err)
		}
		k := quality.Key{Campaign: rapid.Uint64Range(1, 3).Draw(t, "campaign"), Group: rapid.Uint64Range(1, 4).Draw(t, "group")}
		k.Keyword, k.Ad = 10*k.Group+rapid.Uint64Range(0, 3).Draw(t, "keyword"), rapid.Uint64Range(0, 3).Draw(t, "ad")
		e := m.Estimate(k)
		mean, spread := s.estimate(k)
		bound := min(1, mean*(1+s.Optimism*math.Sqrt(spread)))
		if !near(e.Rate, mean, 1e-9) || !near(e.Bound, bound, 1e-9) {
			t.Fatalf("rate %v, bound %v; want %v, %v", e.Rate, e.Bound, mean, bound)
		}
		checkSteps(t, &s, k, &e)
	})
}

// checkSteps checks that the steps of an estimate have the right counts and lead to its rate.
func checkSteps(t *rapid.T, s *slow, k quality.Key, e *quality.Estimate) {
	keys := []quality.Key{{}, {Campaign: k.Campaign}, {Campaign: k.Campaign, Group: k.Group}, {Campaign: k.Campaign, Group: k.Group, Keyword: k.Keyword}}
	if k.Ad != 0 {
		keys = append(keys, k)
	}
	if len(e.Steps) != len(keys) {
		t.Fatalf("%d steps for %+v", len(e.Steps), k)
	}
	lowest, up := quality.LevelAll, s.Prior
	for i, step := range e.Steps {
		impressions, clicks, examined := s.sums(keys[i])
		if impressions > 0 || clicks > 0 {
			lowest = quality.Level(i)
		}
		if step.Level != quality.Level(i) || !near(step.Impressions, impressions, 1e-9) || !near(step.Clicks, clicks, 1e-9) || !near(step.Examined, examined, 1e-9) {
			t.Fatalf("step %+v; want %v, %v, %v", step, impressions, clicks, examined)
		}
		prior := step.Strength / up
		if own := step.Examined / (step.Examined + prior); !near(step.Own, own, 1e-9) {
			t.Fatalf("step %+v below %v: own part %v", step, up, own)
		}
		if mean := min(1, (step.Clicks+step.Strength)/(step.Examined+prior)); !near(step.Rate, mean, 1e-9) {
			t.Fatalf("step %+v below %v: want %v", step, up, mean)
		}
		up = step.Rate
	}
	if e.Level != lowest || e.Rate != up {
		t.Fatalf("level %v, want %v; rate %v, want %v", e.Level, lowest, e.Rate, up)
	}
}

// TestAnythingCanBeLearned: with all options estimated, any counts give rates.
func TestAnythingCanBeLearned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawCounts(t)
		m, err := quality.Learn(collected(t, list), 5, quality.Options{Optimism: 1, HalfLife: rapid.SampledFrom([]float64{0, 1e-300, 3}).Draw(t, "half-life")})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range list {
			if e := m.Estimate(n.Key); !(e.Rate > 0 && e.Bound >= e.Rate && e.Bound <= 1) {
				t.Fatalf("%+v: rate %v, bound %v", n.Key, e.Rate, e.Bound)
			}
		}
		for p := 1; p <= quality.MaxPosition; p++ {
			if e := m.Examination(p); !(e > 0 && e <= 1) {
				t.Fatalf("position %d is looked at %v times", p, e)
			}
		}
	})
}

// TestHalfLife: after a half-life, counts weigh as much as half of them do today.
func TestHalfLife(t *testing.T) {
	var list, halved []counted
	r := rand.New(rand.NewPCG(1, 1))
	for k := range uint64(20) {
		for p := range uint8(3) {
			n := counted{quality.Cell{Key: quality.Key{Campaign: 1, Group: 1 + k/5, Keyword: 1 + k, Ad: 1}, Position: 1 + p, Day: int32(k % 3)},
				quality.Count{Impressions: 2 * r.Uint64N(1000), Clicks: 2 * r.Uint64N(20)}}
			list = append(list, n)
			n.Impressions, n.Clicks = n.Impressions/2, n.Clicks/2
			halved = append(halved, n)
		}
	}
	// The strengths are given, since more clicks would show better how much rates differ.
	o := quality.Options{HalfLife: 7, Examination: []float64{1, 0.5, 0.25}, Strength: 5}
	a, errA := quality.Learn(collected(t, list), 10, o)
	b, errB := quality.Learn(collected(t, halved), 3, o)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	for _, n := range list {
		if x, y := a.Estimate(n.Key), b.Estimate(n.Key); !near(x.Rate, y.Rate, 1e-12) || !near(x.Steps[2].Clicks, y.Steps[2].Clicks, 1e-12) {
			t.Fatalf("%+v\n%+v", x, y)
		}
	}
}

// TestBoundFalls: relative to the mean, the bound is higher the less was counted, and highest for
// keys that were never shown.
func TestBoundFalls(t *testing.T) {
	var list []counted
	shown := func(keyword, n uint64) {
		list = append(list, counted{quality.Cell{Key: quality.Key{Campaign: 1, Group: 1, Keyword: keyword, Ad: 1}, Position: 1}, quality.Count{Impressions: 20 * n, Clicks: n}})
	}
	for i := range uint64(5) {
		shown(1+i, 1<<(3*i))
	}
	m, err := quality.Learn(collected(t, list), 0, quality.Options{Optimism: 1, Strength: 5})
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	for _, keyword := range []uint64{77, 1, 2, 3, 4, 5} {
		e := m.Estimate(quality.Key{Campaign: 1, Group: 1, Keyword: keyword})
		if e.Bound/e.Rate >= last {
			t.Errorf("keyword %d: %v above %v", keyword, e.Bound, e.Rate)
		}
		last = e.Bound / e.Rate
	}
	if last > 1.03 {
		t.Errorf("after 4,096 clicks still %.3f times the mean", last)
	}
}

// TestStrengthIsEstimated: if the click rates of a level differ from their owner's by a known part,
// the estimated strength is right. If they do not differ, it is the greatest.
func TestStrengthIsEstimated(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, shape := range []float64{2, 8, 0} { // of a gamma distribution; 0: all rates are the same
		var list []counted
		for g := range uint64(200) {
			mean := 0.02 * (1 + r.Float64()*4)
			for k := range uint64(10) {
				rate := mean
				if shape > 0 {
					rate *= gamma(r, shape) / shape
				}
				n := 200 + r.Uint64N(2000)
				list = append(list, counted{quality.Cell{Key: quality.Key{Campaign: 1, Group: 1 + g, Keyword: 1 + 10*g + k, Ad: 1}, Position: 1},
					quality.Count{Impressions: n, Clicks: binomial(r, n, min(1, rate))}})
			}
		}
		m, err := quality.Learn(collected(t, list), 0, quality.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := m.Strength(quality.LevelKeyword)
		t.Logf("shape %v: strength %.2f", shape, got)
		if shape > 0 && !near(got, shape, 0.25) || shape == 0 && got < 200 {
			t.Errorf("rates of shape %v have strength %v", shape, got)
		}
	}
}

// gamma draws from a gamma distribution of scale one with a whole shape.
func gamma(r *rand.Rand, shape float64) (sum float64) {
	for range int(shape) {
		sum += r.ExpFloat64()
	}
	return sum
}

func binomial(r *rand.Rand, n uint64, p float64) (k uint64) {
	for range n {
		if r.Float64() < p {
			k++
		}
	}
	return k
}

func TestFactorIsChecked(t *testing.T) {
	c := collected(t, []counted{{quality.Cell{Key: quality.Key{Campaign: 1, Group: 1, Keyword: 1}, Position: 1}, quality.Count{Impressions: 1}}})
	for _, f := range []float64{0, 1.1, math.NaN()} {
		_, err := quality.Learn(c, 0, quality.Options{Factor: func(quality.Key) float64 { return f }})
		if fault.FieldOf(err) != "factor" {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	nan := math.NaN()
	for field, list := range map[string][]quality.Options{
		"half-life":   {{HalfLife: -1}, {HalfLife: nan}, {HalfLife: math.Inf(1)}},
		"strength":    {{Strength: 0.5}, {Strength: 1001}, {Strength: nan}},
		"prior":       {{Prior: 1e-7}, {Prior: 1.1}, {Prior: nan}},
		"optimism":    {{Optimism: -1}, {Optimism: 11}, {Optimism: nan}},
		"examination": {{Examination: []float64{1, 0}}, {Examination: []float64{1.1}}, {Examination: []float64{nan}}, {Examination: make([]float64, 21)}},
	} {
		for _, o := range list {
			if _, err := quality.Learn(new(quality.Counts), 0, o); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
				t.Errorf("%+v: field %q, %v", o, fault.FieldOf(err), err)
			}
		}
	}
}

// TestExploration: a keyword that was not shown often enough is not rated below the overall rate,
// however bad its group is. Once it was, or without exploration, it is. Good keywords are not
// raised.
func TestExploration(t *testing.T) {
	c := new(quality.Counts)
	add := func(group, keyword, impressions, clicks uint64) {
		t.Helper()
		key := quality.Key{Campaign: 1, Group: group, Keyword: keyword}
		if err := c.Add(quality.Cell{Key: key, Position: 1, Day: 1}, quality.Count{Impressions: impressions, Clicks: clicks}); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 1, 10_000, 5)
	add(1, 2, 199, 0)
	add(1, 3, 200, 0)
	add(2, 4, 10_000, 1000)
	bound := func(explore float64, group, keyword uint64) (bound, all float64) {
		m, err := quality.Learn(c, 1, quality.Options{Examination: []float64{1}, Strength: 5, Explore: explore})
		if err != nil {
			t.Fatal(err)
		}
		e := m.Estimate(quality.Key{Campaign: 1, Group: group, Keyword: keyword})
		return e.Bound, e.Steps[quality.LevelAll].Rate
	}
	for _, k := range []struct {
		group, keyword uint64
		raised         bool
	}{{1, 1, false}, {1, 2, true}, {1, 3, false}, {1, 99, true}, {2, 4, false}, {2, 98, false}} {
		without, all := bound(0, k.group, k.keyword)
		with, _ := bound(200, k.group, k.keyword)
		if k.raised && (without >= all || with != all) || !k.raised && with != without {
			t.Errorf("keyword %d: bound %v, without exploration %v, all %v", k.keyword, with, without, all)
		}
	}
}
