package barrels

import (
	"math"
	"sync/atomic"

	"adshard/auction"
	"adshard/barrels/block"
)

// judgement is what each posting of a block is worth on one device, as the
// statuses, budgets and modifiers of one state make it. It holds until a parent
// of the block's groups changes or other slices are served; so what decides on a
// group is looked up once, not by each search.
type judgement struct {
	parents atomic.Uint64 // version of the parents for which it is known to hold
	views   uint64        // number of the table of slices
	view    uint64        // served
	sums    []sum         // by class
	worth   []worth       // by member
}

// sum is what all postings of a class come to, so that a class is counted
// without a look at its postings, and looked at only if one may be among the
// best.
type sum struct {
	best       uint64 // the largest effective bid × quality
	least      worth  // the smallest of those that take part; unclear: none does
	live       uint16 // those that are not dead
	candidates uint16 // those that take part
	unclear    bool   // some are to be judged by themselves
}

// worth is 0 for a posting that does not match whatever its words, 1 for one that
// matches and takes no part in the auction, else its effective bid in micros and
// 1 more.
type worth uint32

const (
	dead     worth = 0
	excluded worth = 1
	// unclear: the posting is to be judged by itself.
	unclear worth = math.MaxUint32
)

// judgement returns what holds for a kept block in this search.
func (f *finder) judgement(b *termBlock) *judgement {
	slot, p := &b.judged[f.request.Device], f.state.parents
	j := slot.Load()
	if j != nil && j.views == f.served.views && j.view == f.served.view {
		known := j.parents.Load()
		if known == p.version {
			return j
		}
		if known < p.version && !p.touched(known, func(c *parentChange) bool { return parentOf(&b.view, c) }) {
			j.parents.CompareAndSwap(known, p.version)
			return j
		}
	}
	j = f.judgeBlock(b)
	slot.Store(j)
	return j
}

// judgeBlock finds out what each posting of a block is worth.
func (f *finder) judgeBlock(b *termBlock) *judgement {
	j := &judgement{views: f.served.views, view: f.served.view}
	j.parents.Store(f.state.parents.version)
	j.sums, j.worth = make([]sum, len(b.classes)), make([]worth, len(b.members))
	for i := range b.members {
		j.worth[i] = f.worth(&b.view, &b.members[i])
	}
	for c := range j.sums {
		s := &j.sums[c]
		s.least = unclear
		first, end := b.of(c)
		for i := first; i < end; i++ {
			s.add(j.worth[i], b.qualities[i])
		}
	}
	return j
}

func (s *sum) add(w worth, quality uint8) {
	switch {
	case w == unclear:
		s.unclear = true
	case w > excluded:
		s.best = max(s.best, uint64(w-1)*uint64(quality))
		s.least = min(s.least, w)
		s.candidates++
		s.live++
	case w == excluded:
		s.live++
	}
}

func (f *finder) worth(v *block.View, m *member) worth {
	_, bid, group, _, flags := v.Detail(int(m.posting))
	if flags&block.Enabled == 0 {
		return dead
	}
	g := f.group(v, group)
	switch {
	case g.damaged:
		return unclear // to be named by each search that meets it
	case !g.live:
		return dead
	case m.special || g.negatives:
		return unclear
	case !g.candidate || flags&block.HasBid == 0:
		return excluded
	}
	effective, _, _ := auction.Rank(bid, g.modifier, 0, 0, 0)
	if effective >= uint64(unclear)-1 {
		return unclear
	}
	return worth(effective) + 1
}

// parentOf tells whether a change is of a parent of one of the block's groups.
func parentOf(v *block.View, c *parentChange) bool {
	for g := range v.Groups() {
		if campaign, advertiser := v.GroupParents(g); campaign == c.campaign || advertiser == c.advertiser {
			return true
		}
	}
	return false
}
