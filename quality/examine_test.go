package quality_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"adshard/quality"
)

// looked has the probabilities of looking at positions, relative to the first.
var looked = []float64{1, 0.7, 0.4, 0.2}

// shownEverywhere returns counts of ads that have different rates and are each shown in most
// positions, the better ones more often at the top, as in an auction.
func shownEverywhere(ads int, impressions uint64, clicks func(n uint64, p float64) uint64) (list []counted) {
	for a := range uint64(ads) {
		rate := 0.02 + 0.2*float64(a)/float64(ads)
		for p, e := range looked {
			if int(a)%5 == p {
				continue
			}
			n := impressions
			if (p < 2) == (2*int(a) < ads) {
				n /= 10
			}
			list = append(list, counted{
				quality.Cell{Key: quality.Key{Campaign: 1, Group: 1, Keyword: 1 + a, Ad: 1}, Position: uint8(p + 1)},
				quality.Count{Impressions: n, Clicks: clicks(n, e*rate)},
			})
		}
	}
	return list
}

// TestExaminationIsFound: the examination is found exactly from counts without chance, except for
// the weight of the position above. From drawn counts it is found approximately, although the
// better ads are shown at the top, so that the click rates by position are misleading.
func TestExaminationIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for name, c := range map[string]struct {
		list []counted
		off  float64
	}{
		"expected": {shownEverywhere(40, 1e12, func(n uint64, p float64) uint64 { return uint64(float64(n) * p) }), 1e-6},
		"drawn":    {shownEverywhere(40, 10_000, func(n uint64, p float64) uint64 { return binomial(r, n, p) }), 0.05},
		// Most of these ads have one click or none, so their rates cannot be known.
		"drawn, thousands of ads": {shownEverywhere(8000, 20, func(n uint64, p float64) uint64 { return binomial(r, n, p) }), 0.07},
	} {
		m, err := quality.Learn(collected(t, c.list), 0, quality.Options{})
		if err != nil {
			t.Fatal(err)
		}
		naive := naiveExamination(c.list)
		for i, e := range looked {
			got := m.Examination(i + 1)
			t.Logf("%s: position %d: %.4f, by click rates alone %.4f; is %v", name, i+1, got, naive[i], e)
			if !near(got, e, c.off) {
				t.Errorf("%s: position %d is looked at %.4f, not %v", name, i+1, got, e)
			}
			if i > 1 && near(naive[i], e, 2*c.off) {
				t.Errorf("%s: position %d: click rates alone say the same: the test shows nothing", name, i+1)
			}
		}
		if got := m.Examination(5); got != m.Examination(4) {
			t.Errorf("%s: a position that was never shown is looked at %v", name, got)
		}
	}
}

func naiveExamination(list []counted) (rates [4]float64) {
	var clicks, impressions [4]float64
	for _, n := range list {
		clicks[n.Position-1] += float64(n.Clicks)
		impressions[n.Position-1] += float64(n.Impressions)
	}
	for i := range rates {
		rates[i] = clicks[i] / impressions[i] / (clicks[0] / impressions[0])
	}
	return rates
}

// maximised returns the examination probabilities of maximum likelihood, found by expectation maximisation, as in the
// book on click models: for an impression without a click it computes how likely it was looked at,
// and how likely it would have been clicked. It also returns the number of steps.
func maximised(list []counted) (e [4]float64, steps int) {
	rates := make(map[uint64]float64)
	for _, n := range list {
		rates[n.Keyword] = 0.1
	}
	e = [4]float64{1, 0.5, 0.5, 0.5}
	for moved := 1.0; moved > 1e-9; steps++ {
		var looks, shown [4]float64
		likes, asked := make(map[uint64]float64), make(map[uint64]float64)
		for _, n := range list {
			p, clicks, total := n.Position-1, float64(n.Clicks), float64(n.Impressions)
			x, r := e[p], rates[n.Keyword]
			looks[p] += clicks + (total-clicks)*x*(1-r)/(1-x*r)
			likes[n.Keyword] += clicks + (total-clicks)*r*(1-x)/(1-x*r)
			shown[p] += total
			asked[n.Keyword] += total
		}
		moved = 0
		for i := 1; i < 4; i++ { // that of the first is always one
			next := looks[i] / shown[i]
			moved = math.Max(moved, math.Abs(next-e[i]))
			e[i] = next
		}
		for k := range rates {
			rates[k] = likes[k] / asked[k]
		}
	}
	return e, steps
}

// TestExaminationIsThatOfEM: expectation maximisation finds the same, but much more slowly.
func TestExaminationIsThatOfEM(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	list := shownEverywhere(40, 100_000, func(n uint64, p float64) uint64 { return binomial(r, n, p) })
	m, err := quality.Learn(collected(t, list), 0, quality.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, steps := maximised(list)
	t.Logf("%d steps of expectation and maximisation", steps)
	for i, e := range want {
		got := m.Examination(i + 1)
		t.Logf("position %d: %.4f, by expectation and maximisation %.4f", i+1, got, e)
		if !near(got, e, 0.005) {
			t.Errorf("position %d is looked at %v, by expectation and maximisation %v", i+1, got, e)
		}
	}
}

// TestPositionsDoNotCount: of two ads that users like equally, the one that was shown far down is
// rated just as high.
func TestPositionsDoNotCount(t *testing.T) {
	list := shownEverywhere(40, 10_000, func(n uint64, p float64) uint64 { return uint64(float64(n) * p) })
	for keyword, at := range map[uint64]uint8{1001: 1, 1002: 4} {
		clicks := uint64(100_000 * 0.1 * looked[at-1])
		list = append(list, counted{quality.Cell{Key: quality.Key{Campaign: 1, Group: 2, Keyword: keyword, Ad: 1}, Position: at},
			quality.Count{Impressions: 100_000, Clicks: clicks}})
	}
	m, err := quality.Learn(collected(t, list), 0, quality.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for keyword := uint64(1001); keyword <= 1002; keyword++ {
		if e := m.Estimate(quality.Key{Campaign: 1, Group: 2, Keyword: keyword, Ad: 1}); !near(e.Rate, 0.1, 0.02) {
			t.Errorf("keyword %d: %v, not 0.1", keyword, e.Rate)
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 5))
	c := collected(b, shownEverywhere(50_000, 100, func(n uint64, p float64) uint64 { return binomial(r, n, p) }))
	for b.Loop() {
		if _, err := quality.Learn(c, 0, quality.Options{HalfLife: 7}); err != nil {
			b.Fatal(err)
		}
	}
}
