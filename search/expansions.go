package search

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
	"unsafe"

	"adshard/search/words"
)

// Expansions expands queries and keeps what it made of the last ones, since users ask
// the same again and again: one place for each hash of text and reach. A query that
// was asked again keeps its place against one newcomer, so that a flood of distinct
// queries does not displace those that are asked all the time. The hash is seeded:
// nobody can choose queries that meet in one place. Nothing is kept of texts that are
// refused.
type Expansions struct {
	lexicon *words.Lexicon
	seed    maphash.Seed
	most    int64
	bytes   atomic.Int64 // of all that is kept
	hand    atomic.Uint64
	slots   []atomic.Pointer[expanded]
}

// expanded is a query that is kept.
type expanded struct {
	query *Query
	reach Level
	bytes int64
	again atomic.Bool // asked again since a newcomer wanted its place
}

const (
	// expandedBytes is about what a query of three words takes.
	expandedBytes = 1 << 10
	// maxExpandedBytes bounds what one may take: few have so many words, and each would
	// displace several others.
	maxExpandedBytes = 4 << 10
	// maxSweep bounds the places that one newcomer makes room in.
	maxSweep = 16
)

// NewExpansions returns an Expansions that keeps at most so many bytes, and uses
// lexicon, which may be nil.
func NewExpansions(lexicon *words.Lexicon, bytes int) *Expansions {
	slots := 1 << bits.Len(uint(max(bytes, 1)/expandedBytes))
	return &Expansions{lexicon: lexicon, seed: maphash.MakeSeed(), most: int64(bytes), slots: make([]atomic.Pointer[expanded], slots)}
}

// Expand is search.Expand. The query is shared and not to be changed; kept reports
// whether it was there already. Errors as of search.Expand.
func (e *Expansions) Expand(text string, reach Level) (q *Query, kept bool, err error) {
	slot := e.slot(text, reach)
	there := slot.Load()
	if there != nil && there.reach == reach && there.query.Text == text {
		if !there.again.Load() { // so that processors share the line
			there.again.Store(true)
		}
		return there.query, true, nil
	}
	if there != nil && there.again.Swap(false) {
		q, err = Expand(text, reach, e.lexicon)
		return q, false, err
	}
	q, err = Expand(strings.Clone(text), reach, e.lexicon) // which may be part of a whole request
	if err == nil {
		e.store(slot, there, &expanded{query: q, reach: reach, bytes: sizeOf(q)})
	}
	return q, false, err
}

func (e *Expansions) slot(text string, reach Level) *atomic.Pointer[expanded] {
	h := maphash.String(e.seed, text) + uint64(reach)*0x9e3779b97f4a7c15
	return &e.slots[h&uint64(len(e.slots)-1)]
}

// store puts a new query where old is, if there is room for it.
func (e *Expansions) store(slot *atomic.Pointer[expanded], old, made *expanded) {
	if made.bytes > maxExpandedBytes {
		return
	}
	grows := made.bytes
	if old != nil {
		grows -= old.bytes
	}
	fits := e.bytes.Add(grows) <= e.most || e.sweep()
	if !fits || !slot.CompareAndSwap(old, made) {
		e.bytes.Add(-grows)
	}
}

// sweep drops what was not asked again until no more is kept than allowed; false:
// there was not enough of it among the next places.
func (e *Expansions) sweep() bool {
	for range maxSweep {
		slot := &e.slots[e.hand.Add(1)&uint64(len(e.slots)-1)]
		d := slot.Load()
		if d == nil || d.again.Swap(false) || !slot.CompareAndSwap(d, nil) {
			continue
		}
		if e.bytes.Add(-d.bytes) <= e.most {
			return true
		}
	}
	return false
}

// sizeOf is about what a query that is kept takes.
func sizeOf(q *Query) int64 {
	size := unsafe.Sizeof(expanded{}) + unsafe.Sizeof(*q) + uintptr(len(q.Text)) +
		uintptr(cap(q.Words))*unsafe.Sizeof(Word{}) + uintptr(cap(q.Terms))*unsafe.Sizeof(QueryTerm{})
	for i := range q.Terms {
		size += uintptr(cap(q.Terms[i].Senses)) * unsafe.Sizeof(Sense{})
	}
	return int64(size)
}
