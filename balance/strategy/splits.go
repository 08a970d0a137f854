package strategy

import (
	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
)

// split cuts hot slices in two (thesis 4.5.1, step 4): those with SplitAt times
// the mean slice, while their shard has less than SplitBelow slices. They stay
// where they are; there is more to choose from in the next iteration. With a
// Grain slices are cut where and when something of them moves, not here.
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

// half returns the item's key at which a slice of at least two items is best
// split, and which share of its load lies before it.
func (i *iteration) half(p *draft.Part) (at balance.Key, left float64) {
	i.own = load.OfItems(i.In, p.Slice, i.own[:0])
	return draft.HalfOf(i.own, p.Load)
}
