package index

import (
	"sync/atomic"

	"adshard/barrels/block"
	"adshard/search"
)

// ListReach is what the blocks of a long list, and groups of them, can reach (block.Bound.Reach) under the campaigns of one version of
// Parents.Reaches. The values lie side by side, so that a search quickly finds the blocks that can win. A campaign that bids ten times
// as much somewhere raises only the values of the blocks with its postings.
type ListReach struct {
	version        uint64
	partial        bool // whether a value of 0 means that nothing is known of the block yet
	Blocks, Groups []uint64
}

// longList is what a list has in addition if its blocks are visited in the order of their reach.
type longList struct {
	reach [search.Devices]atomic.Pointer[ListReach] // nil if not known yet
}

// Long reports whether a list's blocks are chosen by their reach.
func (l *PostingList) Long() bool { return l.long != nil }

// Reach returns what the blocks of a long list can reach on a device. It is computed once for each version of the campaigns' modifiers.
func (l *PostingList) Reach(p *Parents, d search.Device) *ListReach {
	at := &l.long.reach[d]
	r := at.Load()
	if r == nil || r.partial || r.version != p.Reaches {
		r = l.reachOf(p, d, r)
		at.Store(r)
	}
	return r
}

// reachOf computes what the blocks can reach. known has the values of some of them, or is nil.
func (l *PostingList) reachOf(p *Parents, d search.Device, known *ListReach) *ListReach {
	n := len(l.Blocks)
	groups := (n + GroupBlocks - 1) / GroupBlocks
	room := make([]uint64, groups+n)
	r := &ListReach{version: p.Reaches, Groups: room[:groups:groups], Blocks: room[groups:]}
	for i := range r.Blocks {
		if known != nil && known.version == p.Reaches {
			r.Blocks[i] = known.Blocks[i]
		}
		if r.Blocks[i] == 0 {
			b := l.Blocks[i].Load()
			r.Blocks[i] = p.Reach(&b.View, b.View.Bound(d), d)
		}
		g := &r.Groups[i/GroupBlocks]
		*g = max(*g, r.Blocks[i])
	}
	return r
}

// inherit takes over what an older list, whose blocks were `before`, knows of the blocks that both lists have.
func (l *PostingList) inherit(old *PostingList, before, blocks []*Block) {
	if l.long == nil || old.long == nil {
		return
	}
	for d := range l.long.reach {
		known := old.long.reach[d].Load()
		if known == nil || known.partial {
			continue
		}
		r := &ListReach{version: known.version, partial: true, Blocks: make([]uint64, len(blocks))}
		j := 0
		for i, b := range blocks {
			for j < len(before) && before[j] != b && before[j].Less(b.Place) {
				j++
			}
			if j < len(before) && before[j] == b {
				r.Blocks[i] = known.Blocks[j]
			}
		}
		l.long.reach[d].Store(r)
	}
}

// Reach returns what a block can reach on a device, given its bound.
func (p *Parents) Reach(v *block.View, bound block.Bound, d search.Device) uint64 {
	modifier, factor := uint64(1000), uint64(1000)
	if p.MaxModifier[d] == modifier && p.MaxFactor == factor {
		return bound.Reach(modifier, factor)
	}
	for g := range v.Groups() {
		campaign, _ := v.GroupParents(g)
		c, ok := p.Campaigns.Get(campaign)
		if !ok {
			return ^uint64(0) // a later version may have it
		}
		factor = max(factor, uint64(c.Most))
		if m := c.Modifiers[d]; m != block.NotSet {
			modifier = max(modifier, uint64(m))
		}
	}
	return bound.Reach(modifier, factor)
}
