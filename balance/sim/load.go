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

// hotItems is the number of the most expensive items that a slave reports.
const hotItems = 256

// somePairs is the number of pairs of a term and an item that a slave reports.
const somePairs = 256

// counters has a slave's counts of the cost of queries since its last report. It counts
// every query, as a store does while there are few.
type counters struct {
	number  uint64
	since   time.Duration
	queries uint64
	slices  map[balance.Held]float64 // in microseconds, by id and generation only
	items   map[balance.Key]float64
	pairs   map[pair]float64
}

// pair is an item examined for a term.
type pair struct {
	term uint64
	key  balance.Key
}

func newCounters() counters {
	return counters{slices: map[balance.Held]float64{}, items: map[balance.Key]float64{}, pairs: map[pair]float64{}}
}

// count adds the cost of an item in slice h.
func (c *counters) count(h balance.Held, v ItemCost) {
	c.slices[balance.Held{ID: h.ID, Generation: h.Generation}] += v.Micros
	c.items[v.Key] += v.Micros
	if v.Term != 0 {
		c.pairs[pair{v.Term, v.Key}] += v.Micros
	}
}

// cost returns a cost with the same number of microseconds and of examined items, so
// that any weights can be used.
func cost(micros float64) load.Cost {
	return load.Cost{Examined: uint64(micros + 0.5), Matched: uint64(micros/10 + 0.5), Micros: uint64(micros + 0.5)}
}

// take returns the counts as a report, and starts counting again.
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

// sample returns some of the pairs, scaled so that they stand for all: those that come
// first by a hash that differs in each report. Costs are in thousandths of a
// microsecond, as a posting takes only some of these. Only their ratios matter.
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
