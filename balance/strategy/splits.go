package strategy

import (
	"adshard/balance"
	"adshard/balance/load"
)

// split cuts hot slices in two (thesis 4.5.1, step 4): those with SplitAt times
// the mean slice, while their node has less than SplitBelow slices. They stay
// where they are; there is more to choose from in the next iteration. With a
// Grain slices are cut where and when something of them moves, not here.
func (i *iteration) split() {
	if i.Grain > 0 {
		return
	}
	for k := range i.parts {
		p := &i.parts[k]
		n := &i.nodes[p.at]
		if p.busy || p.gone || p.merged || p.Items < 2 || p.Load < i.SplitAt*i.meanSlice() || n.slices >= i.SplitBelow {
			continue
		}
		at, left := i.half(p)
		if _, ok := i.board.split(p.ID, at, "slice %d on node %s has %.1f x the mean slice; it is split where its load (%.3f x a node's mean) is %.0f : %.0f",
			p.ID, n.name, p.Load/i.meanSlice(), i.x(p.Load), 100*left, 100-100*left); ok {
			n.slices++
			p.split = true
		}
	}
}

// half returns the item's key at which a slice of at least two items is best
// split, and which share of its load lies before it.
func (i *iteration) half(p *part) (at balance.Key, left float64) {
	i.own = load.OfItems(i.in, p.Slice, i.own[:0])
	return halfOf(i.own, p.Load)
}

// halfOf is half of items with a load in all.
func halfOf(own []load.Item, load float64) (at balance.Key, left float64) {
	var sum, best float64
	for k, v := range own {
		if k > 0 && (at == 0 || abs(sum-load/2) < abs(best-load/2)) {
			at, best = v.Key, sum
		}
		sum += v.Load
	}
	if load > 0 {
		left = best / load
	}
	return at, left
}

func abs(x float64) float64 { return max(x, -x) }
