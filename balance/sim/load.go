package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/barrels/certify"
)

// hotItems is how many of the most expensive items a slave reports.
const hotItems = 256

// somePairs is how many pairs of a term and an item a slave reports.
const somePairs = 256

// counters are a slave's counts of what queries cost it, since its last report:
// of each query, as a store counts while there are few.
type counters struct {
	number  uint64
	since   time.Duration
	queries uint64
	slices  map[balance.Held]float64 // micros, by id and generation only
	items   map[balance.Key]float64
	pairs   map[pair]float64
}

// pair is an item under a term.
type pair struct {
	term uint64
	key  balance.Key
}

func newCounters() counters {
	return counters{slices: map[balance.Held]float64{}, items: map[balance.Key]float64{}, pairs: map[pair]float64{}}
}

// count adds what an item that lies in h cost.
func (c *counters) count(h balance.Held, v ItemCost) {
	c.slices[balance.Held{ID: h.ID, Generation: h.Generation}] += v.Micros
	c.items[v.Key] += v.Micros
	if v.Term != 0 {
		c.pairs[pair{v.Term, v.Key}] += v.Micros
	}
}

// cost has the same micros and items looked at, so that any weights do.
func cost(micros float64) load.Cost {
	return load.Cost{Examined: uint64(micros + 0.5), Matched: uint64(micros/10 + 0.5), Micros: uint64(micros + 0.5)}
}

// take returns what was counted and starts again.
func (c *counters) take(now time.Duration, incarnation string) *load.Report {
	r := &load.Report{
		Incarnation: incarnation, Number: c.number + 1, Interval: now - c.since, Queries: c.queries,
	}
	byID := func(a, b balance.Held) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Generation, b.Generation))
	}
	for _, h := range slices.SortedFunc(maps.Keys(c.slices), byID) {
		r.Slices = append(r.Slices, load.SliceCost{Slice: h.ID, Generation: h.Generation, Cost: cost(c.slices[h])})
	}
	hottest := slices.SortedFunc(maps.Keys(c.items), func(a, b balance.Key) int {
		return cmp.Or(cmp.Compare(c.items[b], c.items[a]), cmp.Compare(a, b))
	})
	for _, k := range hottest[:min(hotItems, len(hottest))] {
		r.Items = append(r.Items, load.ItemCost{Key: k, Cost: cost(c.items[k])})
	}
	r.Pairs = c.sample()
	number := c.number + 1
	*c = newCounters()
	c.number, c.since = number, now
	return r
}

// sample returns some of the pairs, which stand for all: those that are first by a hash
// that differs from report to report. They are in thousandths of a microsecond, of which
// a posting takes some: only their ratios matter.
func (c *counters) sample() (out []load.PairCost) {
	order := func(p pair) uint64 { return certify.Mix(certify.Mix(p.term+c.number) ^ uint64(p.key)) }
	list := slices.SortedFunc(maps.Keys(c.pairs), func(a, b pair) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.term, b.term), cmp.Compare(a.key, b.key))
	})
	kept := min(somePairs, len(list))
	for _, p := range list[:kept] {
		nanos := 1000 * c.pairs[p] * float64(len(list)) / float64(kept)
		out = append(out, load.PairCost{Term: p.term, Key: p.key, Cost: load.Cost{Examined: uint64(nanos + 0.5)}})
	}
	return out
}
