package index

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Dictionary holds the document frequency of each term (the number of keyword forms that have it)
// and the number of postings anchored at it.
//
// One writer changes it while searches read it without a lock. Searches only ask whether a term may
// have postings. A term that once had postings stays marked until the writer starts a new table,
// since an older snapshot may still have them. Entries are never removed; a full table is replaced
// by a larger copy with the next published state.
type Dictionary struct {
	slots []termEntry
	shift uint
	seed  uint64 // random, so that no client can choose colliding words on purpose
	used  int    // used only by the writer
	// replaced is set once a copy has taken over; then nothing more is cached here.
	replaced atomic.Bool
}

// termEntry is one term; its slot is free if key is 0. info has the mark, the postings (31 bits)
// and the document frequency (32 bits). One look-up gives a search both the term and its cached
// blocks.
type termEntry struct {
	key, info atomic.Uint64
	// changed is the number of the last state that changed the term's blocks.
	changed atomic.Uint64
	list    atomic.Pointer[PostingList]
}

// TermStats are the counts of a term.
type TermStats struct{ Frequency, Postings uint32 }

const anchoredMark = 1 << 63

// NewDictionary returns an empty dictionary with room for the given number of terms. It grows if
// needed.
func NewDictionary(terms int) *Dictionary {
	bits := uint(10)
	for 3<<bits < 4*terms {
		bits++
	}
	return &Dictionary{
		slots: make([]termEntry, 1<<bits), shift: 64 - bits,
		seed: rand.Uint64() | 1,
	}
}

func (t *Dictionary) entry(term uint64) *termEntry {
	mask := uint64(len(t.slots) - 1)
	for i := (term ^ t.seed) * 0x9e3779b97f4a7c15 >> t.shift; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if k := s.key.Load(); k == term || k == 0 {
			return s
		}
	}
}

// Touch returns the key in a term's first slot, to prefetch the slot.
func (t *Dictionary) Touch(term uint64) uint64 {
	return t.slots[(term^t.seed)*0x9e3779b97f4a7c15>>t.shift].key.Load()
}

// Has reports whether a keyword may have the term. It is safe to call while the writer works: it
// may be true for terms newer than the caller's snapshot, and for removed terms until the writer
// starts a new table.
func (t *Dictionary) Has(term uint64) bool {
	return t.entry(term).key.Load() == term && term != 0
}

// HasPostings reports whether the term may have postings. It is safe to call while the writer
// works.
func (t *Dictionary) HasPostings(term uint64) bool {
	s := t.entry(term)
	return s.key.Load() == term && term != 0 && s.hasPostings()
}

// hasPostings reports whether the term in the slot may have postings.
func (s *termEntry) hasPostings() bool { return s.info.Load()&anchoredMark != 0 }

// Stats returns the counts of a term.
func (t *Dictionary) Stats(term uint64) TermStats {
	s := t.entry(term)
	if s.key.Load() != term || term == 0 {
		return TermStats{}
	}
	return statsOf(s.info.Load())
}

// statsOf returns the counts in an entry's info.
func statsOf(info uint64) TermStats {
	return TermStats{Frequency: uint32(info), Postings: uint32(info >> 32 &^ (1 << 31))}
}

// Set changes a term's counts. It returns the table to use from then on: t itself or a larger copy.
func (t *Dictionary) Set(term uint64, c TermStats) *Dictionary {
	s := t.entry(term)
	if s.key.Load() == 0 {
		if c == (TermStats{}) {
			return t
		}
		if 4*(t.used+1) > 3*len(t.slots) {
			return t.copy(2*t.used).Set(term, c)
		}
		t.used++
	}
	info := s.info.Load()&anchoredMark | uint64(c.Postings)<<32 | uint64(c.Frequency)
	if c.Postings > 0 {
		info |= anchoredMark
	}
	s.info.Store(info)
	s.key.Store(term)
	return t
}

// copy returns a table with the same content and room for the given number of terms. Terms without
// any counts are kept if they have the mark.
func (t *Dictionary) copy(terms int) *Dictionary {
	n := NewDictionary(terms)
	t.replaced.Store(true)
	for i := range t.slots {
		if k, info := t.slots[i].key.Load(), t.slots[i].info.Load(); k != 0 && info != 0 {
			n.copyEntry(k, info, &t.slots[i])
		}
	}
	return n
}

// copyEntry copies a term that the table does not have yet, with its cached blocks.
func (t *Dictionary) copyEntry(term, info uint64, from *termEntry) {
	s := t.entry(term)
	s.info.Store(info)
	s.list.Store(from.list.Load())
	s.changed.Store(from.changed.Load())
	s.key.Store(term)
	t.used++
}

// Fresh returns a table without the marks of past postings and without unused terms.
func (t *Dictionary) Fresh() *Dictionary {
	n := NewDictionary(t.used)
	t.replaced.Store(true)
	for i := range t.slots {
		k, info := t.slots[i].key.Load(), t.slots[i].info.Load()&^anchoredMark
		if k == 0 || info == 0 {
			continue
		}
		if info>>32 > 0 {
			info |= anchoredMark
		}
		n.copyEntry(k, info, &t.slots[i])
	}
	return n
}

// A term's value on disk is its frequency and postings, as little-endian uint32.

// Append appends the counts as they are on disk.
func (c TermStats) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.Frequency)
	return binary.LittleEndian.AppendUint32(dst, c.Postings)
}

func parseTermCount(b []byte) (TermStats, bool) {
	if len(b) != 8 {
		return TermStats{}, false
	}
	return TermStats{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}, true
}

// Peek returns the cached blocks of a term for a state, without counting it as a use, or nil if
// none are valid for the state.
func (t *Dictionary) Peek(term, state uint64) *PostingList {
	s := t.entry(term)
	list := s.list.Load()
	if changed := s.changed.Load(); s.key.Load() != term || list == nil || list.state < changed || state < changed {
		return nil
	}
	return list
}

// Bytes returns the size of the table without cached blocks.
func (t *Dictionary) Bytes() uint64 { return uint64(len(t.slots)) * uint64(unsafe.Sizeof(termEntry{})) }

// Terms returns all terms in ascending order.
func (t *Dictionary) Terms() []uint64 {
	terms := make([]uint64, 0, t.used)
	for i := range t.slots {
		if k := t.slots[i].key.Load(); k != 0 {
			terms = append(terms, k)
		}
	}
	slices.Sort(terms)
	return terms
}

// Len returns the number of terms, whether used or not.
func (t *Dictionary) Len() int { return t.used }

// Lookup returns, for a search of a state, whether keywords may have a term, whether postings may
// be anchored at it, and its cached posting list, or nil if none is cached.
func (t *Dictionary) Lookup(term, state uint64) (known, anchors bool, list *PostingList) {
	e := t.entry(term)
	if e.key.Load() != term || term == 0 {
		return false, false, nil
	}
	return true, e.hasPostings(), e.cached(state)
}
