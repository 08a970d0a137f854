package search

import "math/bits"

// termTable finds a query's terms: open addressing, at most a quarter full, so
// that the many words that agree with nothing are turned away at the first
// look. Terms are hashes already and never 0.
type termTable struct {
	slots []termSlot
	mask  uint64
}

type termSlot struct {
	term  uint64
	index int32 // into Query.Terms
}

func (t *termTable) reset(terms []QueryTerm) {
	t.clear(len(terms))
	for i := range terms {
		t.put(terms[i].Term, int32(i))
	}
}

// clear empties the table and makes room for n terms.
func (t *termTable) clear(n int) {
	size := 1 << bits.Len(uint(4*n))
	if cap(t.slots) < size {
		t.slots = make([]termSlot, size)
	}
	t.slots = t.slots[:size]
	clear(t.slots)
	t.mask = uint64(size - 1)
}

// put adds a term that is not there yet.
func (t *termTable) put(term uint64, index int32) {
	i := term & t.mask
	for t.slots[i].term != 0 {
		i = (i + 1) & t.mask
	}
	t.slots[i] = termSlot{term: term, index: index}
}

// find returns the term's index, −1 when it is not there.
func (t *termTable) find(term uint64) int {
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
