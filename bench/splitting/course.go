package splitting

import (
	"math"
	"math/rand/v2"
	"slices"

	"adshard/balance/splitkey"
	"adshard/bench/skew"
)

// requests is the number of requests that an estimate sees (§3.2).
const requests = 20_000

// near is the largest distance from 0.5 of the part up to the split key that counts as
// right.
const near = 0.05

// figure is one of the paper's figures 1 to 5.
type figure struct {
	number  int
	title   string
	of      *skew.Distribution
	methods []splitkey.Method
	// first is the key of the first request, from 1, in the runs in which it is fixed.
	first uint64
}

// figures returns the paper's figures 1 to 5.
func figures() []figure {
	small, large := skew.Zipf(10_000, 0.99), skew.Zipf(300_000, 0.99)
	linear, exponential := splitkey.Linear(), splitkey.Exponential()
	two, four, eight := splitkey.PingPong(2), splitkey.PingPong(4), splitkey.PingPong(8)
	return []figure{
		{1, "linear steps, 10,000 keys, Zipf", small, []splitkey.Method{linear}, 4000},
		{2, "doubled steps, 10,000 keys, Zipf", small, []splitkey.Method{exponential}, 4000},
		{3, "linear steps and both together, 10,000 keys, Zipf", small, []splitkey.Method{linear, two, four}, 4000},
		{4, "10,000 keys, Poisson", skew.Poisson(10_000, 5000), []splitkey.Method{linear, exponential, two, four}, 4000},
		{5, "300,000 keys, Zipf", large, []splitkey.Method{linear, exponential, two, four, eight}, 180_000},
	}
}

// course holds the part of the requests up to the split key, after each request.
type course struct {
	parts   []float64
	settled int // the request after which steps were linear; 0: they never were
}

// follow runs one estimate. If first is 0, the first request is drawn like the others.
func follow(d *skew.Distribution, m splitkey.Method, first, seed uint64) course {
	r := rand.New(rand.NewPCG(seed, 20140324))
	e, out := splitkey.New(m, 1), course{parts: make([]float64, requests)}
	for i := range out.parts {
		key := uint64(d.Draw(r)) + 1
		if i == 0 && first > 0 {
			key = first
		}
		e.Add(key)
		at, _ := e.Key()
		out.parts[i] = d.UpTo(int(at) - 1)
		if e.Settled() && out.settled == 0 {
			out.settled = i + 1
		}
	}
	return out
}

// until returns the number of requests after which the split key was first right, or all
// of them if it never was.
func (c *course) until() float64 {
	i := slices.IndexFunc(c.parts, func(p float64) bool { return math.Abs(p-0.5) <= near })
	if i < 0 {
		return requests
	}
	return float64(i + 1)
}

// noise returns the root mean square of the distance from 0.5 over the second half.
func (c *course) noise() float64 {
	sum, last := 0.0, c.parts[len(c.parts)/2:]
	for _, p := range last {
		sum += (p - 0.5) * (p - 0.5)
	}
	return math.Sqrt(sum / float64(len(last)))
}

// off returns the distance from 0.5 after request 8,000.
func (c *course) off() float64 { return math.Abs(c.parts[8000-1] - 0.5) }

// outcome is the result of one method over all seeds.
type outcome struct {
	method splitkey.Method
	drawn  bool // the first request was drawn like the others
	until  []float64
	noise  []float64
	off    []float64
	line   []float64 // of the first seed
}

// outcomes runs the methods of a figure, once with a fixed first key and once with a
// drawn one.
func (f *figure) outcomes(seeds int) (out []outcome) {
	for _, drawn := range []bool{false, true} {
		first := f.first
		if drawn {
			first = 0
		}
		for _, m := range f.methods {
			o := outcome{method: m, drawn: drawn}
			for seed := range uint64(seeds) {
				c := follow(f.of, m, first, seed+1)
				o.until, o.noise, o.off = append(o.until, c.until()), append(o.noise, c.noise()), append(o.off, c.off())
				if seed == 0 {
					o.line = c.parts
				}
			}
			out = append(out, o)
		}
	}
	return out
}

// median returns the median of a list.
func median(list []float64) float64 { return quantile(list, 0.5) }

func quantile(list []float64, at float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(at*float64(len(sorted)-1)+0.5)]
}

// above returns the share of a list that is above a limit.
func above(list []float64, limit float64) float64 {
	n := 0
	for _, v := range list {
		if v > limit {
			n++
		}
	}
	return float64(n) / float64(len(list))
}
