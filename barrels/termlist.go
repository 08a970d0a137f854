package barrels

import (
	"slices"
	"sync"
	"sync/atomic"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"
)

// termList is the blocks of a term as one state of the store has them, in
// memory; none: it has no postings. What it says does not change.
type termList struct {
	state uint64 // number of the state
	// blocks are made ready when a search first visits them, or by the writer in the
	// place of such ones; most of what changes is never asked for before it changes
	// again.
	blocks []atomic.Pointer[termBlock]
	only   [1]atomic.Pointer[termBlock]
	used   atomic.Bool // since it was last spared
	bytes  int
	// bounds are for each device those of the blocks, side by side, so that a
	// search tells quickly which can win; none where there are few blocks.
	bounds *[search.Devices]listBounds
}

// listBounds are the bounds of a list's blocks, and of groups of them: the largest
// of each.
type listBounds struct{ blocks, groups []block.Bound }

// groupBlocks is the size of such a group.
const groupBlocks = 16

// loneList is a list with room for its only block, so that both are fetched at
// once.
type loneList struct {
	list  termList
	block termBlock
}

// fewBlocks are looked at one after the other.
const fewBlocks = 6

// listOverhead is about what a list takes beside its blocks.
const listOverhead = 160

// newTermList makes a list of a term's blocks, all of them in order.
func newTermList(state uint64, blocks []*termBlock) *termList {
	return new(termList).fill(state, blocks)
}

// fill makes an empty list that of these blocks.
func (l *termList) fill(state uint64, blocks []*termBlock) *termList {
	l.state, l.bytes = state, listOverhead
	if len(blocks) <= len(l.only) { // one step less in memory
		l.blocks = l.only[:len(blocks)]
	} else {
		l.blocks = make([]atomic.Pointer[termBlock], len(blocks))
	}
	for i, b := range blocks {
		l.blocks[i].Store(b)
		l.bytes += b.bytes
	}
	if len(blocks) > fewBlocks {
		l.bounds = new([search.Devices]listBounds)
		for d := range l.bounds {
			l.bounds[d] = boundsOf(blocks, d)
		}
	}
	return l
}

// boundsOf are the bounds of blocks on one device.
func boundsOf(blocks []*termBlock, device int) listBounds {
	groups := (len(blocks) + groupBlocks - 1) / groupBlocks
	room := make([]block.Bound, groups+len(blocks))
	b := listBounds{groups: room[:groups:groups], blocks: room[groups:]}
	for i := range blocks {
		b.blocks[i] = blocks[i].bounds[device]
		g := &b.groups[i/groupBlocks]
		g.Own, g.Inherited = max(g.Own, b.blocks[i].Own), max(g.Inherited, b.blocks[i].Inherited)
	}
	return b
}

// block returns the i-th block, ready for searches; nil: it is damaged.
func (l *termList) block(i int) *termBlock {
	b := l.blocks[i].Load()
	if b.ready {
		return b
	}
	ready := new(termBlock)
	if !b.makeReady(ready) {
		return nil
	}
	l.blocks[i].Store(ready)
	return ready
}

// place is that of the i-th block.
func (l *termList) place(i int) kv.Place { return l.blocks[i].Load().Place }

// with returns the list of a later state, in which ops put or remove blocks; nil
// when one of them is damaged.
func (l *termList) with(state uint64, ops []kv.Op) *termList {
	blocks := make([]*termBlock, len(l.blocks), len(l.blocks)+len(ops))
	for i := range blocks {
		blocks[i] = l.blocks[i].Load()
	}
	for _, o := range ops {
		at := kv.Place{Key: kv.KeyPart(o.Key, 1), Keyword: kv.KeyPart(o.Key, 2)}
		i, found := slices.BinarySearchFunc(blocks, at, func(b *termBlock, at kv.Place) int {
			switch {
			case b.Place == at:
				return 0
			case b.Less(at):
				return -1
			}
			return 1
		})
		if o.Kind == kv.Delete {
			if found {
				blocks = slices.Delete(blocks, i, i+1)
			}
			continue
		}
		b := newTermBlock(kv.KeyPart(o.Key, 0), at, o.Value)
		if b == nil {
			return nil
		}
		b.view.Trust() // the writer has made it
		switch {
		case found:
			blocks[i] = b
		default:
			blocks = slices.Insert(blocks, i, b)
		}
	}
	return newTermList(state, blocks)
}

// kept returns what is kept of the slot's term for a state; nil: nothing that
// holds.
//
// States have rising numbers. The writer notes that a state changes a term
// before it puts the term's list of that state and before it publishes the
// state; so the note that is read after a list tells whether the list and the
// state that asks are both of the same side of the last change.
func (s *termSlot) kept(state uint64) *termList {
	l := s.list.Load()
	if l == nil {
		return nil
	}
	if c := s.changed.Load(); l.state < c || state < c {
		return nil
	}
	if !l.used.Load() {
		l.used.Store(true)
	}
	return l
}

// lists bounds what is kept of terms' blocks in memory.
type lists struct {
	limit int64
	bytes atomic.Int64

	mu   sync.Mutex // one drops at a time; guards hand
	hand int        // the slot at which dropping goes on
}

// most is the size of the largest list that is kept.
func (l *lists) most() int64 { return l.limit / 8 }

// keep puts a list into a table, unless a newer one is there.
func (l *lists) keep(t *termTable, term uint64, list *termList) {
	s := t.slot(term)
	if int64(list.bytes) > l.most() || s.key.Load() != term || t.replaced.Load() {
		return
	}
	for {
		old := s.list.Load()
		if old != nil && old.state >= list.state {
			return
		}
		if s.list.CompareAndSwap(old, list) {
			l.account(t, old, list)
			return
		}
	}
}

// drop removes the list of a slot.
func (l *lists) drop(s *termSlot) {
	if old := s.list.Swap(nil); old != nil {
		l.bytes.Add(-int64(old.bytes))
	}
}

// account takes in that a list took the place of another, and makes room.
func (l *lists) account(t *termTable, old, list *termList) {
	by := int64(list.bytes)
	if old != nil {
		by -= int64(old.bytes)
	}
	if l.bytes.Add(by) > l.limit && l.mu.TryLock() {
		l.makeRoom(t)
		l.mu.Unlock()
	}
}

// makeRoom drops lists, one after the other by slots, until an eighth is free;
// one that was used since it was last met is spared once.
func (l *lists) makeRoom(t *termTable) {
	for n := 0; n < 2*len(t.slots) && l.bytes.Load() > l.limit-l.limit/8; n++ {
		l.hand = (l.hand + 1) % len(t.slots)
		s := &t.slots[l.hand]
		if list := s.list.Load(); list != nil && !list.used.Swap(false) {
			l.drop(s)
		}
	}
}

// recount sets the sum to what a table that takes over holds.
func (l *lists) recount(t *termTable) {
	sum := int64(0)
	for i := range t.slots {
		if list := t.slots[i].list.Load(); list != nil {
			sum += int64(list.bytes)
		}
	}
	l.bytes.Store(sum)
}
