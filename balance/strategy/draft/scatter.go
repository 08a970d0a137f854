package draft

import (
	"adshard/balance"
	"adshard/balance/load"
	"adshard/barrels/certify"
)

// ItemsEach returns the number of items per slice with which there are at most `most`
// slices.
func ItemsEach(in balance.Input, most int) int {
	most = max(1, most)
	return max(1, (in.Items.Len()+most-1)/most)
}

// Mix returns a hash of seed and x, by the finaliser of SplitMix64 (Steele, Lea, Flood
// 2014).
func Mix(seed, x uint64) uint64 {
	return certify.Mix(x + 0x9e3779b97f4a7c15*(seed+1))
}

// Scatter splits slices of more than `each` items, and draws a shard for every part
// except the first, until the budget is used up. why says why that shard is drawn.
func (b *Draft) Scatter(each int, why string, draw func(balance.Key, uint64) int) {
	var own []load.Item
	for i := range b.Parts {
		p := &b.Parts[i]
		if p.Busy || p.Items <= each || !b.Affords(1, 0) {
			continue
		}
		own = load.OfItems(b.In, p.Slice, own[:0])
		p.Busy = true
		b.scatterSlice(p, own, each, why, draw)
	}
}

func (b *Draft) scatterSlice(p *Part, own []load.Item, each int, why string, draw func(balance.Key, uint64) int) {
	type going struct {
		slice uint64
		to    int
		items int
	}
	var list []going
	id, items := p.ID, p.Items
	for begin := each; begin < len(own); begin += each {
		var sum load.SliceSum
		for _, v := range own[begin:min(begin+each, len(own))] {
			sum.Items++
			sum.Weight += uint64(v.Weight)
			sum.Load += v.Load
		}
		to := draw(own[begin].Key, sum.Weight)
		ok, _ := b.May(p.ID, to)
		ok = to == p.At || ok && b.Shards[to].Room(sum.Weight) && b.Affords(sum.Items, sum.Weight)
		if n := len(list); !ok && (n == 0 || list[n-1].slice != id) {
			break // the remaining items stay in a slice that stays
		}
		right, split := b.Split(id, own[begin].Key, "slice %d has %d items, a slice has room for %d", p.ID, items, each)
		if !split || !ok {
			break
		}
		id = right
		b.Shards[p.At].Slices++
		if to != p.At {
			b.Shards[p.At].Slices--
			b.Shift(p.At, to, sum.Items, sum.Weight, sum.Load)
			list = append(list, going{right, to, sum.Items})
		}
	}
	for _, g := range list {
		b.Start(g.slice, g.to, "slice %d of %d items goes to shard %s: %s", g.slice, g.items, b.Shards[g.to].Name, why)
	}
}

// mostEmpty is the greatest number of slices without items that are sent to a
// neighbour's shard in an iteration.
const mostEmpty = 64

// MergeEmpty merges slices without items with a neighbour on the same shard. Otherwise
// it moves them to the left neighbour's shard, which moves no data, so that they can be
// merged later.
func (b *Draft) MergeEmpty() {
	moved := 0
	for i := range b.Parts {
		p := &b.Parts[i]
		if p.Busy || p.Items > 0 {
			continue
		}
		if i+1 < len(b.Parts) {
			if right := &b.Parts[i+1]; !right.Busy && right.At == p.At &&
				b.Merge(p.ID, right.ID, "slice %d has no items and joins its neighbour %d", p.ID, right.ID) {
				right.ID, right.Lo, right.Merged = p.ID, p.Lo, true
				continue
			}
		}
		if i == 0 || b.Parts[i-1].Busy || p.Merged {
			continue
		}
		left := &b.Parts[i-1]
		if left.At == p.At {
			if b.Merge(left.ID, p.ID, "slice %d has no items and joins its neighbour %d", p.ID, left.ID) {
				left.Busy, p.Busy = true, true
			}
			continue
		}
		if ok, _ := b.May(p.ID, left.At); ok && moved < mostEmpty {
			moved++
			b.Start(p.ID, left.At, "slice %d has no items and goes to its neighbour %d on shard %s, to be merged", p.ID, left.ID, b.Shards[left.At].Name)
			left.Busy, p.Busy = true, true
		}
	}
}
