package strategy

import (
	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
)

// split cuts hot slices in two (thesis 4.5.1, step 4): those with at least SplitAt
// times the load of the mean slice, while their shard has fewer than SplitBelow slices.
// Both parts stay on their shard, so that the next iteration has more to choose from.
// With a Grain, nothing is cut here: slices are cut when a part of them moves.
func (i *iteration) split() {
	if i.Grain > 0 {
		return
	}
	for k := range i.Parts {
		p := &i.Parts[k]
		n := &i.Shards[p.At]
		if p.Busy || p.Gone || p.Merged || p.Items < 2 || p.Load < i.SplitAt*i.meanSlice() || n.Slices >= i.SplitBelow {
			continue
		}
		at, left := i.half(p)
		if _, ok := i.Draft.Split(p.ID, at, "slice %d on shard %s has %.1f x the mean slice; it is split where its load (%.3f x a shard's mean) is %.0f : %.0f",
			p.ID, n.Name, p.Load/i.meanSlice(), i.OfMean(p.Load), 100*left, 100-100*left); ok {
			n.Slices++
			p.Cut = true
		}
	}
}

// half returns the key at which a slice of at least two items is best split, and the
// share of its load that lies before that key.
func (i *iteration) half(p *draft.Part) (at balance.Key, left float64) {
	i.own = load.OfItems(i.In, p.Slice, i.own[:0])
	return draft.HalfOf(i.own, p.Load)
}
