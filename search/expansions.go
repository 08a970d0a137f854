package search

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
	"unsafe"

	"adshard/search/words"
)

// Expansions expands queries and caches the results, since users repeat queries. Each query has one
// slot, found by a hash of its text and reach. An entry that was used since another query last
// wanted its slot keeps the slot once more (second chance), so that a flood of distinct queries does
// not displace frequent ones. The hash is seeded, so that no client can choose colliding queries on
// purpose. Invalid queries are not cached.
type Expansions struct {
	languages  words.Languages
	lexicon    *words.Lexicon
	vocabulary func() Vocabulary
	seed       maphash.Seed
	most       int64
	bytes      atomic.Int64 // of all entries
	hand       atomic.Uint64
	slots      []atomic.Pointer[expanded]
	words      wordForms
}

// expanded is a cached query.
type expanded struct {
	query *Query
	reach Level
	bytes int64
	again atomic.Bool // used since another query wanted the slot
}

const (
	// expandedBytes is about the size of a query of three words.
	expandedBytes = 1 << 10
	// maxExpandedBytes bounds one entry. Few queries have more words than fit into it, or more than twelve units of scripts
	// without spaces, and each of them would displace several others.
	maxExpandedBytes = 16 << 10
	// maxSweep bounds the slots that are emptied to make room for one query.
	maxSweep = 16
)

// NewExpansions returns an Expansions that caches at most the given bytes, for words that have stems in
// some languages, and uses lexicon, which may be nil.
func NewExpansions(languages words.Languages, lexicon *words.Lexicon, bytes int) *Expansions {
	slots := 1 << bits.Len(uint(max(bytes, 1)/expandedBytes))
	return &Expansions{languages: languages, lexicon: lexicon, seed: maphash.MakeSeed(), most: int64(bytes), slots: make([]atomic.Pointer[expanded], slots)}
}

// Correct makes the Expansions correct words by the vocabulary that a function returns, or nil while there
// is none. It must be called before the first query.
func (e *Expansions) Correct(vocabulary func() Vocabulary) { e.vocabulary = vocabulary }

// forms returns what words have at a reach.
func (e *Expansions) forms(reach Level) Forms {
	f := Forms{Languages: e.languages, Lexicon: e.lexicon, words: &e.words}
	if reach >= Misspelt && e.vocabulary != nil {
		f.Vocabulary = e.vocabulary()
	}
	return f
}

// version returns the version of the vocabulary, or "" if there is none.
func (f *Forms) version() string {
	if f.Vocabulary == nil {
		return ""
	}
	return f.Vocabulary.Version()
}

// Vocabulary returns the version of the vocabulary by which words are corrected now, or "" if there is none.
func (e *Expansions) Vocabulary() string {
	f := e.forms(Misspelt)
	return f.version()
}

// Languages returns the languages in which words have stems.
func (e *Expansions) Languages() words.Languages { return e.languages }

// Expand is search.Expand with the cache, and returns the same errors. The query is shared and must
// not be changed. kept reports whether it came from the cache.
func (e *Expansions) Expand(text string, reach Level) (q *Query, kept bool, err error) {
	f := e.forms(reach)
	slot := e.slot(text, reach)
	there := slot.Load()
	if there != nil && there.reach == reach && there.query.Text == text && there.query.Vocabulary == f.version() {
		if !there.again.Load() { // written only if it changes, so that processors share the cache line
			there.again.Store(true)
		}
		return there.query, true, nil
	}
	if there != nil && there.again.Swap(false) {
		q, err = ExpandBy(f, text, reach)
		return q, false, err
	}
	q, err = ExpandBy(f, strings.Clone(text), reach) // text may be part of a whole request
	if err == nil {
		e.store(slot, there, &expanded{query: q, reach: reach, bytes: sizeOf(q)})
	}
	return q, false, err
}

func (e *Expansions) slot(text string, reach Level) *atomic.Pointer[expanded] {
	h := maphash.String(e.seed, text) + uint64(reach)*0x9e3779b97f4a7c15
	return &e.slots[h&uint64(len(e.slots)-1)]
}

// store puts a new query in the slot of old, if there is room for it.
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

// sweep drops entries that were not used again until the cache is within its limit. It returns false
// if the next maxSweep slots held too few of them.
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

// sizeOf estimates the size of a cached query.
func sizeOf(q *Query) int64 {
	size := unsafe.Sizeof(expanded{}) + unsafe.Sizeof(*q) + uintptr(len(q.Text)) +
		uintptr(cap(q.Words))*unsafe.Sizeof(Word{}) + uintptr(cap(q.Runs))*unsafe.Sizeof(Run{}) + uintptr(cap(q.Terms))*unsafe.Sizeof(QueryTerm{})
	for i := range q.Terms {
		size += uintptr(cap(q.Terms[i].Senses)) * unsafe.Sizeof(Sense{})
	}
	return int64(size)
}
