package splitkey

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The paper's experiments (§3.2): the keys 1 to n in the order of popularity, 20,000
// requests, 30 seeds. A split key is judged by the part of the requests up to it, which
// is ideally 0.5. The paper does not give the exponent of its Zipf distribution: 0.99
// here.
const requests, seeds = 20_000, 30

func zipf(n int) distribution {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -0.99)
	}
	return newDistribution(weights)
}

func poisson(n int, mean float64) distribution {
	weights := make([]float64, n)
	for i := range weights {
		l, _ := math.Lgamma(float64(i + 2))
		weights[i] = math.Exp(float64(i+1)*math.Log(mean) - mean - l)
	}
	return newDistribution(weights)
}

// course holds the distance of a split key from 0.5 after each request.
type course []float64

func run(d distribution, m Method, first, seed uint64) course {
	r := rand.New(rand.NewPCG(seed, 2))
	e, out := New(m, 1), make(course, 0, requests)
	for range requests {
		key := first
		if len(out) > 0 || key == 0 {
			key = d.draw(r)
		}
		e.Add(key)
		at, _ := e.Key()
		out = append(out, d.upTo(at)-0.5)
	}
	return out
}

// near returns the number of the first request after which the split key was within 0.05
// of the ideal.
func (c course) near() int {
	for i, off := range c {
		if math.Abs(off) <= 0.05 {
			return i + 1
		}
	}
	return len(c)
}

// rms returns the root mean square over the second half.
func (c course) rms() float64 {
	sum := 0.0
	for _, off := range c[len(c)/2:] {
		sum += off * off
	}
	return math.Sqrt(sum / float64(len(c)-len(c)/2))
}

// over runs all seeds and returns the mean of a value of each.
func over(d distribution, m Method, first uint64, of func(course) float64) float64 {
	sum := 0.0
	for seed := range uint64(seeds) {
		sum += of(run(d, m, first, seed))
	}
	return sum / seeds
}

func within(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s: %.4g, want %.4g to %.4g", what, got, least, most)
	}
}

// TestFigures1To3: linear steps from the key 4,000 take about 8,000 requests and are
// exact then; doubled steps take some 100 requests and stay noisy; both together are
// soon close and exact.
func TestFigures1To3(t *testing.T) {
	d := zipf(10_000)
	within(t, "linear: requests until near", over(d, Linear(), 4000, func(c course) float64 { return float64(c.near()) }), 6000, 10_000)
	within(t, "linear: rms at the end", over(d, Linear(), 4000, course.rms), 0, 0.03)
	within(t, "exponential: requests until near", over(d, Exponential(), 4000, func(c course) float64 { return float64(c.near()) }), 1, 300)
	within(t, "exponential: rms at the end", over(d, Exponential(), 4000, course.rms), 0.06, 0.13)
	for _, n := range []int{2, 4} {
		within(t, PingPong(n).String()+": rms at the end", over(d, PingPong(n), 4000, course.rms), 0, 0.1)
	}
	within(t, "ping-pong(4): part that is right after 500 requests", over(d, PingPong(4), 4000, func(c course) float64 {
		if math.Abs(c[500]) <= 0.1 {
			return 1
		}
		return 0
	}), 0.6, 1)
}

// TestFigure4: Poisson requests are the worst case: acceptable when settled, but not
// before.
func TestFigure4(t *testing.T) {
	d := poisson(10_000, 5000)
	within(t, "ping-pong(4): rms at the end", over(d, PingPong(4), 0, course.rms), 0, 0.1)
	within(t, "exponential: rms at the end", over(d, Exponential(), 0, course.rms), 0.1, 0.2)
}

// TestFigure5: with 300,000 keys, two or four reversals can happen by chance while the
// key is far away; eight do not.
func TestFigure5(t *testing.T) {
	d := zipf(300_000)
	off := func(c course) float64 { return math.Abs(c[8000]) }
	few := over(d, PingPong(2), 180_000, off)
	many := over(d, PingPong(8), 180_000, off)
	within(t, "ping-pong(2) at request 8,000", few, 0.2, 0.5)
	within(t, "ping-pong(8) at request 8,000", many, 0, 0.08)
}
