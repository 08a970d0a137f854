package index

import "adshard/barrels/kv"

// ListBuilder gathers the blocks of one term while there is room for them.
type ListBuilder struct {
	list       []*Block
	first      *loneList // the list that holds the first block
	size, room int
}

// NewListBuilder returns a builder for the list of a term that is not in the cache. When the cache
// is full and does not admit the term, the builder has no room and the blocks are only read.
func (l *ListCache) NewListBuilder(term uint64) ListBuilder {
	if limit := l.limit.Load(); l.bytes.Load() > limit-limit/8 && !l.admission.admit(term) {
		return ListBuilder{}
	}
	return ListBuilder{room: max(0, int(l.MaxBytes())-listOverhead)}
}

// Add appends a block, on a copy of its bytes, prepared for searches. Without
// room it drops what was gathered and returns full; a damaged block gives nil.
func (c *ListBuilder) Add(term uint64, at kv.Place, value []byte) (b *Block, full bool) {
	if c.room == 0 {
		return nil, true
	}
	raw := Block{Term: term, Place: at}
	if raw.View.Open(value) != nil { // on the reader's bytes: prepare copies them
		return nil, false
	}
	raw.measure()
	if c.size += raw.bytes; c.size > c.room {
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

// Abandon drops what was gathered: the term's blocks are not all good.
func (c *ListBuilder) Abandon() { c.room = 0 }

// List returns the list of a state, of all blocks added; nil when there are none
// or too many to be cached.
func (c *ListBuilder) List(state uint64) *PostingList {
	switch {
	case c.room == 0 || len(c.list) == 0:
		return nil
	case len(c.list) == 1:
		return c.first.list.fill(state, c.list)
	}
	return NewPostingList(state, c.list)
}
