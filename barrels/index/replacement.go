package index

import (
	"sort"

	"adshard/barrels/kv"
)

// Replacement is a term's new cached list for a state that is not published yet. Making a list
// takes time, putting it in place does not. Until all are made, searches use the lists of the state
// before.
type Replacement struct {
	slot      *termEntry
	old, next *PostingList // nil if there is none
}

// Replacements returns the lists of the state with this number, after a batch whose operations on
// blocks are grouped by term. Only the writer calls it. It calls yield between terms.
func (l *ListCache) Replacements(t *Dictionary, b *kv.Batch, number uint64, yield func()) (all []Replacement) {
	var ops []kv.Op // operations on one term
	flush := func() {
		if len(ops) > 0 {
			yield()
			if r, ok := l.renew(t, number, ops); ok {
				all = append(all, r)
			}
		}
		ops = ops[:0]
	}
	for i := range b.Len() {
		op := b.Op(i)
		if op.Family != kv.Postings || op.Kind == kv.Clear { // the lists of a cleared family are dropped with their table
			continue
		}
		if len(ops) > 0 && kv.KeyPart(op.Key, 0) != kv.KeyPart(ops[0].Key, 0) {
			flush()
		}
		ops = append(ops, op)
	}
	flush()
	return all
}

// renew returns the list of a term after its operations. It returns false if the term cannot have a
// list.
func (l *ListCache) renew(t *Dictionary, number uint64, ops []kv.Op) (Replacement, bool) {
	term := kv.KeyPart(ops[0].Key, 0)
	s := t.entry(term)
	if s.key.Load() != term {
		return Replacement{}, false
	}
	r := Replacement{slot: s, old: s.list.Load()}
	if r.old != nil && r.old.state >= s.changed.Load() {
		if next := r.old.with(number, ops); next != nil && int64(next.bytes) <= l.MaxBytes() {
			if r.old.used.Load() {
				next.prepare(r.old, ops)
			}
			r.next = next
		}
	}
	return r, true
}

// prepare prepares the blocks that replace visited ones, in a list that was used since its last
// change. The writer spends the time, so that the next search need not.
func (l *PostingList) prepare(old *PostingList, ops []kv.Op) {
	for _, o := range ops {
		at := kv.Place{Key: kv.KeyPart(o.Key, 1), Keyword: kv.KeyPart(o.Key, 2)}
		if i, j := l.find(at), old.find(at); i >= 0 && j >= 0 && old.Blocks[j].Load().prepared {
			l.Block(i)
		}
	}
}

// find returns the index of the block at a place, or −1 if there is none.
func (l *PostingList) find(at kv.Place) int {
	i := sort.Search(len(l.Blocks), func(i int) bool { return !l.Place(i).Less(at) })
	if i == len(l.Blocks) || l.Place(i) != at {
		return -1
	}
	return i
}

// Replace declares that the state with this number, which is yet to be published, changes blocks of
// a term. It puts the new list in place unless the old one was replaced or dropped in the meantime.
func (l *ListCache) Replace(t *Dictionary, r *Replacement, number uint64) {
	r.slot.changed.Store(number)
	if r.next != nil && r.slot.list.CompareAndSwap(r.old, r.next) {
		by := r.next.total()
		if r.old != nil {
			by -= r.old.total()
		}
		l.account(t, by)
		return
	}
	l.drop(r.slot)
}

// Current returns the cached blocks of a term for the writer, whose state has this number. Unlike a
// search's request, it does not count as a use.
func (t *Dictionary) Current(term, state uint64) *PostingList {
	s := t.entry(term)
	if s.key.Load() != term || term == 0 {
		return nil
	}
	if l := s.list.Load(); l != nil && l.state <= state && l.state >= s.changed.Load() {
		return l
	}
	return nil
}

// OfferBlock caches the only block of a term, which the writer has read, if there is room. A term
// that changed is likely to change again, and then the store need not be read. Half of the room is
// left to the terms that searches request.
func (l *ListCache) OfferBlock(t *Dictionary, term, state uint64, at kv.Place, value []byte) {
	if l.bytes.Load()+int64(len(value)) > l.room.Usable()/2 {
		return
	}
	if b := NewBlock(term, at, value); b != nil {
		l.Put(t, term, NewPostingList(state, []*Block{b}))
	}
}

// OfferEmpty caches that a term has no blocks, so that the writer need not read the store before it
// adds the first ones.
func (l *ListCache) OfferEmpty(t *Dictionary, term, state uint64) {
	if l.bytes.Load()+int64(listOverhead) <= l.room.Usable()/2 {
		l.Put(t, term, NewPostingList(state, nil))
	}
}
