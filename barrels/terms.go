package barrels

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
)

// termTable holds what the store knows of each term: in how many keyword forms
// it stands (its document frequency) and how many postings are anchored at it.
//
// One writer changes it while searches read it without a lock. Searches ask
// only whether a term may have postings; a term that once had some keeps that
// mark, since an older snapshot may still have them, until the writer starts a
// new table. Entries are never removed; a full table is replaced by a larger
// copy, which the next published state carries.
type termTable struct {
	slots []termSlot
	shift uint
	seed  uint64 // so that nobody can choose words that meet in one slot
	used  int    // writer only
	// replaced: a copy has taken over; nothing more is to be kept here.
	replaced atomic.Bool
}

// termSlot is one term; key 0: free. info: the mark, postings (31 bits),
// document frequency (32 bits). A search finds out in one place whether there is
// such a term and what is kept of its blocks.
type termSlot struct {
	key, info atomic.Uint64
	// changed is the number of the last state that changed the term's blocks.
	changed atomic.Uint64
	list    atomic.Pointer[termList]
}

// termCount is what is known of a term.
type termCount struct{ frequency, postings uint32 }

const hadPostings = 1 << 63

func newTermTable(terms int) *termTable {
	bits := uint(10)
	for 3<<bits < 4*terms {
		bits++
	}
	return &termTable{
		slots: make([]termSlot, 1<<bits), shift: 64 - bits,
		seed: rand.Uint64() | 1,
	}
}

func (t *termTable) slot(term uint64) *termSlot {
	mask := uint64(len(t.slots) - 1)
	for i := (term ^ t.seed) * 0x9e3779b97f4a7c15 >> t.shift; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if k := s.key.Load(); k == term || k == 0 {
			return s
		}
	}
}

// first returns the key in the first slot looked at for a term.
func (t *termTable) first(term uint64) uint64 {
	return t.slots[(term^t.seed)*0x9e3779b97f4a7c15>>t.shift].key.Load()
}

// has tells whether a keyword may have the term. Safe beside the writer: terms
// that came after a snapshot are there too, those that went since are until the
// writer starts a new table.
func (t *termTable) has(term uint64) bool {
	return t.slot(term).key.Load() == term && term != 0
}

// found tells whether the term may have postings. Safe beside the writer.
func (t *termTable) found(term uint64) bool {
	s := t.slot(term)
	return s.key.Load() == term && term != 0 && s.anchors()
}

// anchors tells whether the slot's term may have postings.
func (s *termSlot) anchors() bool { return s.info.Load()&hadPostings != 0 }

// count returns what is known of a term.
func (t *termTable) count(term uint64) termCount {
	s := t.slot(term)
	if s.key.Load() != term || term == 0 {
		return termCount{}
	}
	i := s.info.Load()
	return termCount{frequency: uint32(i), postings: uint32(i >> 32 &^ (1 << 31))}
}

// set changes a term's counts. It returns the table to go on with: t itself or
// a larger copy.
func (t *termTable) set(term uint64, c termCount) *termTable {
	s := t.slot(term)
	if s.key.Load() == 0 {
		if c == (termCount{}) {
			return t
		}
		if 4*(t.used+1) > 3*len(t.slots) {
			return t.copy(2*t.used).set(term, c)
		}
		t.used++
	}
	info := s.info.Load()&hadPostings | uint64(c.postings)<<32 | uint64(c.frequency)
	if c.postings > 0 {
		info |= hadPostings
	}
	s.info.Store(info)
	s.key.Store(term)
	return t
}

// copy returns a table with room for terms and the same content; terms without
// any count are kept while they have the mark.
func (t *termTable) copy(terms int) *termTable {
	n := newTermTable(terms)
	t.replaced.Store(true)
	for i := range t.slots {
		if k, info := t.slots[i].key.Load(), t.slots[i].info.Load(); k != 0 && info != 0 {
			n.take(k, info, &t.slots[i])
		}
	}
	return n
}

// take copies a term that is not there yet, and what is kept of its blocks.
func (t *termTable) take(term, info uint64, from *termSlot) {
	s := t.slot(term)
	s.info.Store(info)
	s.list.Store(from.list.Load())
	s.changed.Store(from.changed.Load())
	s.key.Store(term)
	t.used++
}

// fresh returns a table without marks of the past; unused terms are dropped.
func (t *termTable) fresh() *termTable {
	n := newTermTable(t.used)
	t.replaced.Store(true)
	for i := range t.slots {
		k, info := t.slots[i].key.Load(), t.slots[i].info.Load()&^hadPostings
		if k == 0 || info == 0 {
			continue
		}
		if info>>32 > 0 {
			info |= hadPostings
		}
		n.take(k, info, &t.slots[i])
	}
	return n
}

// The value of a term on disk: frequency and postings, little-endian uint32.

func (c termCount) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.frequency)
	return binary.LittleEndian.AppendUint32(dst, c.postings)
}

func parseTermCount(b []byte) (termCount, bool) {
	if len(b) != 8 {
		return termCount{}, false
	}
	return termCount{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}, true
}
