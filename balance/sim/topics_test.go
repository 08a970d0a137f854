package sim

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Topics describes kinds of queries: what each costs and how it is drawn.
type Topics struct {
	// Costs holds the items of each topic with their costs; a query has one
	// topic.
	Costs [][]ItemCost
	// Rate is the number of queries per second, which arrive at random (Poisson).
	Rate float64
	// Zipf is the exponent of the topics' popularity, by rank; 0: all are equally
	// popular.
	Zipf float64
	// Shift, if not 0, is when popularity turns over: the topic at rank r is then
	// at rank r + half the number of topics.
	Shift time.Duration
	Seed  uint64
}

// Trace draws queries up to a time.
func (t Topics) Trace(until time.Duration) Trace {
	r := &source{state: t.Seed}
	rank := newZipf(len(t.Costs), t.Zipf)
	for i, list := range t.Costs {
		for j := range list {
			list[j].Term = uint64(i + 1)
		}
		slices.SortFunc(list, func(a, b ItemCost) int { return cmp.Compare(a.Key, b.Key) })
	}
	at := time.Duration(0)
	return func() (Query, bool) {
		at += time.Duration(-math.Log(1-r.float()) / t.Rate * float64(time.Second))
		if at > until || len(t.Costs) == 0 {
			return Query{}, false
		}
		i := rank.draw(r)
		if t.Shift > 0 && at >= t.Shift {
			i = (i + len(t.Costs)/2) % len(t.Costs)
		}
		return Query{At: at, Items: t.Costs[i]}, true
	}
}

// zipf draws ranks from 0 to n-1 with a probability proportional to 1/(rank+1)^s, using
// a binary search in the cumulative sums.
type zipf struct{ sums []float64 }

func newZipf(n int, s float64) zipf {
	z := zipf{sums: make([]float64, n)}
	sum := 0.0
	for i := range n {
		sum += math.Pow(float64(i+1), -s)
		z.sums[i] = sum
	}
	return z
}

func (z zipf) draw(r *source) int {
	x := r.float() * z.sums[len(z.sums)-1]
	i, _ := slices.BinarySearch(z.sums, x)
	return min(i, len(z.sums)-1)
}
