package barrels

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"adshard/auction"
	"adshard/barrels/block"
)

// judgement is what each posting of a block is worth on one device, as the
// statuses, budgets and modifiers of one state make it. It holds until a parent
// of the block's groups changes or other slices are served; so what decides on a
// group is looked up once, not by each search.
//
// It heads one piece of memory, in which the sum of each class follows, and each
// sum's entries behind it: a class that few buy takes one line to be counted and
// ranked.
type judgement struct {
	parents atomic.Uint64 // version of the parents for which it is known to hold
	views   uint64        // number of the table of slices
	view    uint64        // served
}

// sum is what all postings of a class come to, so that a class is counted
// without a look at its postings, and looked at only if one may be among the
// best.
type sum struct {
	best uint64 // the largest effective bid × quality
	// least is the smallest worth of those that take part, unclear if none does;
	// dead: some are to be judged by themselves.
	least      worth
	live       uint16 // those that are not dead
	candidates uint16 // those that take part
}

// entry is what a member of a class is worth: its product, effective bid × quality
// (40 bits), surpassed (1), its quality (7), its place among the block's members
// (16). One that takes no part has the product 0 and its worth for a quality,
// unclear as 2. Those of a class lie by falling product, then rising keyword, as
// hits are ranked; the surpassed ones, whose advertiser has a better one there,
// behind the others.
type entry uint64

const (
	productShift       = 24
	surpassed    entry = 1 << 23
	mostQuality        = 1<<7 - 1
)

// newEntry makes one of a quality up to mostQuality.
func newEntry(w worth, quality uint8, member int) entry {
	switch w {
	case dead, excluded:
		return entry(w)<<16 | entry(member)
	case unclear:
		return 2<<16 | entry(member)
	}
	return entry(w-1)*entry(quality)<<productShift | entry(quality)<<16 | entry(member)
}

func (e entry) product() uint64 { return uint64(e >> productShift) }
func (e entry) quality() uint64 { return uint64(e >> 16 & mostQuality) }
func (e entry) member() int     { return int(e & 0xffff) }

func (e entry) worth() worth {
	q := e.quality()
	switch {
	case e.product() > 0:
		return worth(e.product()/q) + 1
	case q == 2:
		return unclear
	}
	return worth(q)
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

// Sizes in words of 64 bits.
const (
	judgementSize = int(unsafe.Sizeof(judgement{}) / 8)
	sumSize       = int(unsafe.Sizeof(sum{}) / 8)
)

// newJudgement makes one with room for a block's sums and entries.
func newJudgement(b *termBlock) *judgement {
	room := make([]uint64, judgementSize+sumSize*len(b.signatures)+int(b.postings))
	return (*judgement)(unsafe.Pointer(&room[0]))
}

// sum returns that of a class of b, the block judged.
func (j *judgement) sum(b *termBlock, class int) *sum {
	return (*sum)(j.at(sumSize*class + int(b.rows()[class].first)))
}

// entries returns those of a class of b, the block judged.
func (j *judgement) entries(b *termBlock, class int) []entry {
	first, end := b.of(class)
	return unsafe.Slice((*entry)(j.at(sumSize*(class+1)+first)), end-first)
}

// at returns where the i-th word behind the judgement lies.
func (j *judgement) at(i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(j), 8*(judgementSize+i))
}

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
	f.enter(&b.view, b)
	j := newJudgement(b)
	j.views, j.view = f.served.views, f.served.view
	j.parents.Store(f.state.parents.version)
	members := b.members()
	for c := range b.signatures {
		s, entries := j.sum(b, c), j.entries(b, c)
		s.least = unclear
		first, _ := b.of(c)
		for i := range entries {
			m := first + i
			w, quality := f.worth(&b.view, &members[m]), b.view.Quality(int(members[m].posting))
			if quality > mostQuality || w > excluded && quality == 0 {
				w = unclear
			}
			entries[i] = newEntry(w, quality, m)
			s.add(w, entries[i].product())
		}
		rank(entries, members)
	}
	return j
}

// rank puts the entries of a class in order. No search asks for more than
// maxSlots + 1 advertisers, so that it is enough to look for those of the first so
// many.
func rank(entries []entry, members []member) {
	if len(entries) < 2 {
		return
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Compare(b>>productShift, a>>productShift); c != 0 {
			return c
		}
		return cmp.Compare(members[a.member()].keyword, members[b.member()].keyword)
	})
	var room [maxSlots + 1]uint64
	owners, behind := room[:0], false
	for i, e := range entries {
		switch owner := members[e.member()].advertiser; {
		case slices.Contains(owners, owner):
			entries[i] |= surpassed
			behind = true
		case len(owners) <= maxSlots:
			owners = append(owners, owner)
		}
	}
	if behind {
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a&surpassed, b&surpassed) })
	}
}

func (s *sum) add(w worth, product uint64) {
	switch {
	case w == unclear:
		s.least = dead
	case w > excluded:
		s.best = max(s.best, product)
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
