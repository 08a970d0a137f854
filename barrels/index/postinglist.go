package index

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"adshard/barrels/kv"
)

// PostingList is the cached blocks of a term in one state of the store. It has no blocks if the term
// has no postings. Its content does not change.
type PostingList struct {
	state uint64 // number of the state
	// Blocks are prepared on a search's first visit, or by the writer if they replace prepared ones,
	// since most changed blocks are never read before they change again.
	Blocks []atomic.Pointer[Block]
	only   [1]atomic.Pointer[Block]
	used   atomic.Bool // whether it was used since eviction last passed over it
	bytes  int
	long   *longList // nil if the list has few blocks
}

// GroupBlocks is the number of blocks in a group. A list keeps the largest reach of each group.
const GroupBlocks = 16

// loneList is a list with room for its only block, so that one memory access fetches both. Its 224 bytes are a size class of Go.
type loneList struct {
	list  PostingList
	block Block
}

// fewBlocks is the number of blocks up to which a list's blocks are visited one after the other.
const fewBlocks = 6

// listOverhead is the size of a list without its blocks.
const listOverhead = int(unsafe.Sizeof(PostingList{})) + 16

// NewPostingList returns the list of a term's blocks, which must be complete and in order.
func NewPostingList(state uint64, blocks []*Block) *PostingList {
	return new(PostingList).fill(state, blocks)
}

// fill fills an empty list with the blocks.
func (l *PostingList) fill(state uint64, blocks []*Block) *PostingList {
	l.state, l.bytes = state, listOverhead
	if len(blocks) <= len(l.only) { // saves a memory access
		l.Blocks = l.only[:len(blocks)]
	} else {
		l.Blocks = make([]atomic.Pointer[Block], len(blocks))
	}
	for i, b := range blocks {
		l.Blocks[i].Store(b)
		l.bytes += int(b.bytes)
	}
	if len(blocks) > fewBlocks {
		l.long = new(longList)
	}
	return l
}

// Block returns the i-th block, prepared for searches, or nil if it is damaged.
func (l *PostingList) Block(i int) *Block {
	b := l.Blocks[i].Load()
	if b.prepared {
		return b
	}
	ready := new(Block)
	if !b.prepare(ready) {
		return nil
	}
	l.Blocks[i].Store(ready)
	return ready
}

// Place returns the place of the i-th block.
func (l *PostingList) Place(i int) kv.Place { return l.Blocks[i].Load().Place }

// with returns the list of a later state, in which ops put or remove blocks. It returns nil if one
// of them is damaged.
func (l *PostingList) with(state uint64, ops []kv.Op) *PostingList {
	blocks := make([]*Block, len(l.Blocks), len(l.Blocks)+len(ops))
	for i := range blocks {
		blocks[i] = l.Blocks[i].Load()
	}
	before := slices.Clone(blocks)
	for _, o := range ops {
		at := kv.Place{Key: kv.KeyPart(o.Key, 1), Keyword: kv.KeyPart(o.Key, 2)}
		i, found := slices.BinarySearchFunc(blocks, at, func(b *Block, at kv.Place) int {
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
		b := NewBlock(kv.KeyPart(o.Key, 0), at, o.Value)
		if b == nil {
			return nil
		}
		b.View.Trust() // the writer has just made it
		switch {
		case found:
			blocks[i] = b
		default:
			blocks = slices.Insert(blocks, i, b)
		}
	}
	next := NewPostingList(state, blocks)
	next.inherit(l, before, blocks)
	return next
}

// cached returns the cached blocks of the slot's term for a state, or nil if none are valid for it.
//
// States have ascending numbers. When a state changes a term, the writer stores its number in
// changed before it puts the term's new list and before it publishes the state. So changed, read
// after the list, shows whether the list and the requested state are on the same side of the last
// change.
func (s *termEntry) cached(state uint64) *PostingList {
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

// ListCache bounds the memory of the cached blocks of terms.
//
// Searches compute the impacts of blocks when they need them, and Grew counts their size. It also
// counts impacts of lists that are not cached, until the next Recount.
type ListCache struct {
	room  *Allowance
	bytes atomic.Int64
	table atomic.Pointer[Dictionary] // the newest table of which lists were counted

	admission doorkeeper

	mu   sync.Mutex // one goroutine evicts at a time; guards hand
	hand int        // the slot at which eviction continues
}

// Grew counts impacts that a search has added to a block in place of old ones, which may be nil.
func (l *ListCache) Grew(old, j *Impacts, b *Block) {
	by := j.bytes(b)
	if old != nil {
		by -= old.bytes(b) // the number of profiles may have changed
	}
	l.count(int64(by))
}

// count counts bytes that a cached list has come to take, and makes room if needed.
func (l *ListCache) count(by int64) {
	if sum := l.bytes.Add(by); by > 0 && !l.room.Fits(sum) {
		l.fit()
	}
}

// Bytes returns the size of the lists.
func (l *ListCache) Bytes() uint64 { return uint64(max(0, l.bytes.Load())) }

// total returns the size of a list with its blocks' impacts.
func (l *PostingList) total() int64 {
	sum := l.bytes
	for i := range l.Blocks {
		b := l.Blocks[i].Load()
		sum += b.hostBytes()
		for d := range b.Impacts {
			if j := b.Impacts[d].Load(); j != nil {
				sum += j.bytes(b)
			}
		}
	}
	return int64(sum)
}

// NewListCache returns an empty cache of lists with a share of the memory.
func NewListCache(room *Allowance) *ListCache {
	l := &ListCache{room: room, admission: room.doorkeeper()}
	room.OnLess(l.fit)
	return l
}

// MaxBytes returns the size of the largest list that is kept. It does not depend on what other caches need.
func (l *ListCache) MaxBytes() int64 { return l.room.Part() / 8 }

// full reports whether the cache takes only what is wanted again: it is full, and its limit cannot be raised.
func (l *ListCache) full() bool {
	for limit := l.room.Limit(); l.bytes.Load() > limit-limit/16; limit = l.room.Limit() {
		if !l.room.Grow() {
			return true
		}
	}
	return false
}

// Put puts a list into a table, unless the table has a newer one.
func (l *ListCache) Put(t *Dictionary, term uint64, list *PostingList) {
	s := t.entry(term)
	if int64(list.bytes) > l.MaxBytes() || s.key.Load() != term || t.replaced.Load() {
		return
	}
	for {
		old := s.list.Load()
		if old != nil && old.state >= list.state {
			return
		}
		if s.list.CompareAndSwap(old, list) {
			by := int64(list.bytes) // its impacts were counted when they were added
			if old != nil {
				by -= old.total()
			}
			l.account(t, by)
			if old == nil && l.full() {
				l.room.Missed(int64(list.bytes))
			}
			return
		}
	}
}

// drop removes the list of a slot.
func (l *ListCache) drop(s *termEntry) {
	if old := s.list.Swap(nil); old != nil {
		l.bytes.Add(-old.total())
	}
}

// account adds to the number of cached bytes of a table's lists, and makes room if needed.
func (l *ListCache) account(t *Dictionary, by int64) {
	if l.table.Load() != t && !t.replaced.Load() {
		l.table.Store(t)
	}
	l.count(by)
}

// fit evicts lists until they fit the share. It returns false if another goroutine is doing so.
func (l *ListCache) fit() bool {
	if !l.mu.TryLock() {
		return false
	}
	defer l.mu.Unlock()
	if t := l.table.Load(); t != nil && l.bytes.Load() > l.room.Limit() {
		l.makeRoom(t)
	}
	return true
}

// spare returns how much of a limit is free after eviction.
func spare(limit int64) int64 { return limit / 32 }

// makeRoom evicts lists, slot by slot, until some room is free. A list used since the last pass
// over it is kept once (clock).
func (l *ListCache) makeRoom(t *Dictionary) {
	for n := 0; n < 2*len(t.slots); n++ {
		if limit := l.room.Limit(); l.bytes.Load() <= limit-spare(limit) {
			return
		}
		if l.hand++; l.hand >= len(t.slots) {
			l.hand = 0
			l.Recount(t)
		}
		s := &t.slots[l.hand]
		if list := s.list.Load(); list != nil && !list.used.Swap(false) {
			l.drop(s)
		}
	}
}

// Recount sets the cached bytes to the size of a new table's lists.
func (l *ListCache) Recount(t *Dictionary) {
	sum := int64(0)
	for i := range t.slots {
		if list := t.slots[i].list.Load(); list != nil {
			sum += list.total()
		}
	}
	l.table.Store(t)
	l.bytes.Store(sum)
}

// Same returns the list's block at a place if it equals the stored one, or nil if it differs or is
// missing.
func (l *PostingList) Same(term uint64, at kv.Place, value []byte) *Block {
	i := l.find(at)
	if i < 0 {
		return nil
	}
	b, want := l.Blocks[i].Load(), NewBlock(term, at, value)
	if want == nil || b.Term != term || !b.View.Equal(&want.View) {
		return nil
	}
	if !b.prepared {
		return b
	}
	ready := new(Block)
	if !want.prepare(ready) || !b.sameClasses(ready) {
		return nil
	}
	return b
}

// Drop drops the cached blocks of a term.
func (l *ListCache) Drop(t *Dictionary, term uint64) {
	if s := t.entry(term); s.key.Load() == term {
		l.drop(s)
	}
}

// State returns the number of the state from which the list was read.
func (l *PostingList) State() uint64 { return l.state }
