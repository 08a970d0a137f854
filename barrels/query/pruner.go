package query

import (
	"slices"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
)

// pruner chooses which blocks a search visits, and in which order. Of long lists it takes the blocks with the highest reach first, so that
// the threshold is high before the others are looked at (block-max pruning: Ding and Suel 2011). docs/format.md shows why the answer stays
// exact.
type pruner struct {
	*scope
	ranking *ranking // its threshold decides
	off     bool     // its threshold decides what is pruned
	// lists are the long lists.
	lists   []*index.PostingList
	skipped uint64 // number of blocks of lists that were not visited
	// least is the block-max test for any score that is among the best at a level. thresholds are the tests of the ranking's lists, which
	// include their reserves. Both belong to one moment of the ranking.
	least      block.Threshold
	thresholds []block.Threshold
	moment     uint64
	level      search.Level
	// first are the blocks with the highest reach, in descending order.
	first    []queuedBlock
	batch    []queuedBlock
	survived []queuedBlock
}

// queuedBlock is a block of a list that is yet to be visited, with its reach.
type queuedBlock struct {
	list  *index.PostingList
	block int
	reach uint64
}

const (
	// firstBlocks is the number of blocks, those with the highest reach, that are visited before all others.
	firstBlocks = 8
	// wave is the number of blocks that are fetched together. The threshold rises only after all of them.
	wave = 4
)

// reset begins a search. With off, nothing is pruned.
func (p *pruner) reset(off bool) {
	for _, list := range [...][]queuedBlock{p.first, p.batch, p.survived} {
		clear(list[:cap(list)])
	}
	clear(p.lists[:cap(p.lists)])
	*p = pruner{
		scope: p.scope, ranking: p.ranking, off: off, lists: p.lists[:0],
		first: p.first[:0], batch: p.batch[:0], survived: p.survived[:0], thresholds: p.thresholds[:0],
	}
}

// prunes reports whether a search visits only those blocks of a list that can win.
func (p *pruner) prunes(f *foundList) bool {
	return !p.off && f.anchors && f.list != nil && f.list.Long()
}

// canWin reports whether a block with this reach may still have a posting among the best if no posting matches better than at the level
// `best`.
func (p *pruner) canWin(reach uint64, best search.Level) bool {
	p.renew(best)
	return p.least.Reached(reach)
}

// canBid is canWin for postings that bid at least the reserve.
func (p *pruner) canBid(reach uint64, ratio uint8, best search.Level) bool {
	p.renew(best)
	for _, t := range p.thresholds {
		if t.ReachedBidding(reach, ratio) {
			return true
		}
	}
	return false
}

// renew updates the thresholds to the present moment of the ranking.
func (p *pruner) renew(best search.Level) {
	moment := p.ranking.moment()
	if len(p.thresholds) > 0 && p.moment == moment && p.level == best {
		return
	}
	p.moment, p.level = moment, best
	p.least = block.NewThreshold(p.ranking.threshold(), 0, best)
	p.thresholds = p.ranking.thresholds(p.thresholds[:0], best)
}

// blockCanWin is canWin for any block. A cached block keeps with its impacts what its own campaigns make of its bound. For any other block
// this is computed, which costs less than visiting the block. Reserves are only checked by surviving: without them few blocks of short
// lists are skipped, but their matches are counted.
func (p *pruner) blockCanWin(b blockRef, best search.Level) bool {
	d, parents := p.request.Device, p.state.Parents
	if b.cached != nil {
		if j := b.cached.Impacts[d].Load(); j != nil && j.ParentsVersion.Load() == parents.Version {
			return p.canWin(j.Reach, best)
		}
	}
	bound, modifier, factor := b.view.Bound(d), parents.MaxModifier[d], parents.MaxFactor
	switch {
	case !p.canWin(bound.Reach(modifier, factor), best):
		return false
	case b.cached != nil, modifier == 1000 && factor == 1000: // a visit caches what campaigns make of it; or none changes it
		return true
	}
	return p.canWin(parents.Reach(b.view, bound, d), best)
}

// surviving returns the blocks that can still win, and prefetches them.
func (p *pruner) surviving(r *postings, blocks []queuedBlock, best search.Level) []queuedBlock {
	p.survived = p.survived[:0]
	for _, b := range blocks {
		if p.canWin(b.reach, best) {
			p.survived = append(p.survived, b)
		}
	}
	for _, b := range p.survived {
		p.touched |= uint64(b.list.Blocks[b.block].Load().Postings)
	}
	p.survived = slices.DeleteFunc(p.survived, func(b queuedBlock) bool {
		return !p.canBid(b.reach, b.list.Blocks[b.block].Load().BidRatio, best)
	})
	for _, b := range p.survived {
		r.touch(b.list.Blocks[b.block].Load())
	}
	p.skipped -= uint64(len(p.survived))
	return p.survived
}

// choose collects in first the blocks of all lists with the highest reach.
func (p *pruner) choose() {
	p.first = p.first[:0]
	for _, l := range p.lists {
		p.skipped += uint64(len(l.Blocks))
		p.chooseOf(l)
	}
}

// chooseOf adds the blocks of a list with the highest reach.
func (p *pruner) chooseOf(l *index.PostingList) {
	reach := l.Reach(p.state.Parents, p.request.Device)
	for g := range reach.Groups {
		if !p.isHigh(reach.Groups[g]) {
			continue
		}
		for i := g * index.GroupBlocks; i < min((g+1)*index.GroupBlocks, len(reach.Blocks)); i++ {
			if r := reach.Blocks[i]; p.isHigh(r) {
				p.insert(queuedBlock{l, i, r})
			}
		}
	}
}

// isHigh reports whether a reach is among the highest so far.
func (p *pruner) isHigh(reach uint64) bool {
	return len(p.first) < firstBlocks || reach > p.first[firstBlocks-1].reach
}

// insert adds a block whose reach is among the highest.
func (p *pruner) insert(b queuedBlock) {
	if len(p.first) < firstBlocks {
		p.first = append(p.first, b)
	}
	at := len(p.first) - 1
	for ; at > 0 && b.reach > p.first[at-1].reach; at-- {
		p.first[at] = p.first[at-1]
	}
	p.first[at] = b
}

// isFirst reports whether a block was among those visited first.
func (p *pruner) isFirst(l *index.PostingList, i int) bool {
	for n := range p.first {
		if p.first[n].block == i && p.first[n].list == l {
			return true
		}
	}
	return false
}
