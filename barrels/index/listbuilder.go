package index

import "adshard/barrels/kv"

// ListBuilder gathers the blocks of one term as long as there is room for them.
type ListBuilder struct {
	list       []*Block
	first      *loneList // the list that contains the first block
	size, room int
}

// NewListBuilder returns a builder for the list of a term that is not in the cache. If the cache is
// full and does not admit the term, the builder has no room and the blocks are only read.
func (l *ListCache) NewListBuilder(term uint64) ListBuilder {
	if l.full() && !l.admission.admit(term) {
		return ListBuilder{}
	}
	return ListBuilder{room: max(0, int(l.MaxBytes())-listOverhead)}
}

// Add appends a block, prepared for searches, with a copy of its bytes. If there is no room, it
// drops what was gathered and full is true. If the block is damaged, b is nil and full is false.
func (c *ListBuilder) Add(term uint64, at kv.Place, value []byte) (b *Block, full bool) {
	if c.room == 0 {
		return nil, true
	}
	raw := Block{Term: term, Place: at}
	if raw.View.Open(value) != nil { // the reader's bytes, which prepare copies
		return nil, false
	}
	raw.measure()
	if c.size += int(raw.bytes); c.size > c.room {
		c.room, c.list = 0, nil
		return nil, true
	}
	b = new(Block)
	if len(c.list) == 0 {
		c.first = new(loneList)
		b = &c.first.block
	}
	if !raw.prepare(b) {
		return nil, false
	}
	c.list = append(c.list, b)
	return b, false
}

// Abandon drops what was gathered because some of the term's blocks are damaged.
func (c *ListBuilder) Abandon() { c.room = 0 }

// List returns the list of all blocks added, for a state. It returns nil if there are no blocks or
// too many to cache.
func (c *ListBuilder) List(state uint64) *PostingList {
	switch {
	case c.room == 0 || len(c.list) == 0:
		return nil
	case len(c.list) == 1:
		return c.first.list.fill(state, c.list)
	}
	return NewPostingList(state, c.list)
}
