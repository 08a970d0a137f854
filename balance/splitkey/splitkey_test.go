package splitkey

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naive is Algorithm 1 with the steps of §3.2 exactly as published: with numbers that
// cannot overflow, and without a cap.
type naive struct {
	method             Method
	unit, key, lo, hi  float64
	begun, fixed       bool
	direction, run, rv int
}

func (n *naive) request(k float64) {
	if !n.begun {
		n.begun, n.key, n.lo, n.hi = true, k, k, k
	}
	n.hi, n.lo = max(n.hi, k), min(n.lo, k)
	d := -1
	if k > n.key {
		d = 1
	}
	if d == n.direction {
		n.run, n.rv = n.run+1, 0
	} else {
		n.run = 1
		if n.direction != 0 {
			n.rv++
		}
	}
	n.direction = d
	n.fixed = n.fixed || n.method.reversals > 0 && n.rv >= int(n.method.reversals)
	step := n.unit
	for i := 1; i < n.run && n.method.doubles && !n.fixed; i++ {
		step *= 2
	}
	n.key = min(max(n.key+float64(d)*step, n.lo), n.hi)
}

var methods = []Method{Linear(), Exponential(), PingPong(1), PingPong(2), PingPong(4), PingPong(8)}

// TestAsPublished: any requests give the same split keys as the published algorithm.
func TestAsPublished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(methods).Draw(t, "method")
		unit := rapid.Uint64Range(1, 1000).Draw(t, "unit")
		keys := rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 1, 200).Draw(t, "keys")
		e, n := New(m, unit), naive{method: m, unit: float64(unit)}
		for _, k := range keys {
			e.Add(k)
			n.request(float64(k))
			if got, ok := e.Key(); !ok || got != uint64(n.key) || e.Settled() != (n.fixed || m == Linear()) {
				t.Fatalf("%v at %d: %d, want %.0f", m, k, got, n.key)
			}
		}
	})
}

// TestWithinTheKeysRequested: whatever is requested, in whatever units, the split key is
// between the lowest and the highest requested key. Each request moves it towards the
// requested key or leaves it unchanged, unless it is that key itself.
func TestWithinTheKeysRequested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New(rapid.SampledFrom(methods).Draw(t, "method"), rapid.Uint64().Draw(t, "unit"))
		if _, ok := e.Key(); ok {
			t.Fatal("a split key before the first request")
		}
		lo, hi := ^uint64(0), uint64(0)
		for _, k := range rapid.SliceOfN(rapid.Uint64(), 1, 300).Draw(t, "keys") {
			before, begun := e.Key()
			e.Add(k)
			lo, hi = min(lo, k), max(hi, k)
			after, _ := e.Key()
			if after < lo || after > hi {
				t.Fatalf("%d is not within %d to %d", after, lo, hi)
			}
			if begun && (k > before && after <= before || k <= before && after > before) {
				t.Fatalf("a request for %d moved %d to %d", k, before, after)
			}
		}
	})
}

// TestRestsAtTheMedian: requests drawn from weights bring the split key to the exact
// median of the weights, except for noise. Where n keys have similar weights, the linear
// steps keep it within about 1/(2√n) of the requests, as a standard deviation.
func TestRestsAtTheMedian(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		weights := make([]float64, 200+r.IntN(2000))
		for i := range weights {
			weights[i] = r.ExpFloat64() * float64(1+r.IntN(3))
		}
		d := newDistribution(weights)
		for _, m := range []Method{Linear(), PingPong(4), PingPong(8)} {
			e := New(m, 1)
			for range 40_000 {
				e.Add(d.draw(r))
			}
			key, _ := e.Key()
			limit := 2.5 / math.Sqrt(float64(len(weights)))
			if off := d.upTo(key) - d.upTo(d.median()); math.Abs(off) > limit {
				t.Errorf("seed %d, %v: %d has %.3f of the requests up to it, the median is %d", seed, m, key, d.upTo(key), d.median())
			}
		}
	}
}

// TestOneKey: requests for only one key move the split key there but never settle it.
func TestOneKey(t *testing.T) {
	e := New(PingPong(1), 1)
	for range 1000 {
		e.Add(7)
	}
	if key, _ := e.Key(); key != 7 || e.Settled() {
		t.Fatalf("%d, settled %v", key, e.Settled())
	}
}

// TestNoAllocations tests that requests allocate no memory.
func TestNoAllocations(t *testing.T) {
	e := New(PingPong(8), 1<<40)
	if n := testing.AllocsPerRun(100, func() { e.Add(1); e.Add(^uint64(0)) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]uint64, 4096)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	e := New(PingPong(8), 1<<50)
	for i := 0; b.Loop(); i++ {
		e.Add(keys[i%len(keys)])
	}
}

// distribution is a distribution of requests for the keys 1 to n.
type distribution struct{ sums []float64 }

func newDistribution(weights []float64) distribution {
	sums := make([]float64, len(weights))
	sum := 0.0
	for i, w := range weights {
		sum += w
		sums[i] = sum
	}
	for i := range sums {
		sums[i] /= sum
	}
	return distribution{sums}
}

// draw returns a random key.
func (d distribution) draw(r *rand.Rand) uint64 { return d.at(r.Float64()) }

// at returns the smallest key up to which the given part of the requests lies.
func (d distribution) at(part float64) uint64 {
	i, _ := slices.BinarySearch(d.sums, part)
	return uint64(min(i, len(d.sums)-1)) + 1
}

func (d distribution) median() uint64 { return d.at(0.5) }

// upTo returns the part of the requests that are for keys up to k.
func (d distribution) upTo(k uint64) float64 {
	if k == 0 {
		return 0
	}
	return d.sums[min(int(k), len(d.sums))-1]
}
