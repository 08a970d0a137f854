package search

import "math/bits"

// TermTable finds a query's terms. It uses open addressing and is at most a quarter full, so that
// the first probe rejects most of the many words that agree with nothing. Terms are hashes already
// and never 0.
type TermTable struct {
	slots []termSlot
	mask  uint64
}

type termSlot struct {
	term  uint64
	index int32 // into Query.Terms
}

func (t *TermTable) reset(terms []QueryTerm) {
	t.Clear(len(terms))
	for i := range terms {
		t.Put(terms[i].Term, int32(i))
	}
}

// Clear empties the table and makes room for n terms.
func (t *TermTable) Clear(n int) {
	size := 1 << bits.Len(uint(4*n))
	if cap(t.slots) < size {
		t.slots = make([]termSlot, size)
	}
	t.slots = t.slots[:size]
	clear(t.slots)
	t.mask = uint64(size - 1)
}

// Put adds a term that the table does not contain.
func (t *TermTable) Put(term uint64, index int32) {
	i := term & t.mask
	for t.slots[i].term != 0 {
		i = (i + 1) & t.mask
	}
	t.slots[i] = termSlot{term: term, index: index}
}

// Find returns the term's index, or −1 if the table does not contain it.
func (t *TermTable) Find(term uint64) int {
	for i := term & t.mask; ; i = (i + 1) & t.mask {
		s := &t.slots[i]
		switch s.term {
		case 0:
			return -1
		case term:
			return int(s.index)
		}
	}
}
