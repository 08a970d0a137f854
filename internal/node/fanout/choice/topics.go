package choice

import (
	"math/bits"
	"sync/atomic"

	"adshard/barrels/certify"
	"adshard/search"
)

const (
	// rows and columns are the dimensions of the counts of terms. They take 256 KiB and keep apart
	// the ten thousand or so terms that most queries are made of.
	rows    = 4
	columns = 1 << 14
	// aging is the number of terms counted after which all counts are halved.
	aging = 1 << 22
	// known is how often a term must have been asked for to be known: rarer terms are mistakes, and
	// names that no keyword has.
	known = 4
)

// Topics finds what queries are about: for each query, the known term that is asked for least
// often. The thesis (4.2) calls this term-affinitized replica selection; there topics are computed
// from logs, while here terms are counted as queries arrive. It is safe for concurrent use; the
// zero value knows no term yet.
type Topics struct {
	counts [rows][columns]atomic.Uint32
	total  atomic.Uint64
}

// Of counts the terms of a query and returns its topic, or 0 if none of its terms is known. Among a
// word's own terms, it uses only the one that is asked for most, its stem. It compares frequencies
// by powers of two, so that the topic of a query rarely changes.
func (t *Topics) Of(q *search.Query) uint64 {
	var words [search.MaxQueryUnits]struct {
		term  uint64
		count uint32
	}
	for i := range q.Terms {
		own := &q.Terms[i]
		if own.Cap() != search.Identical || int(own.Senses[0].Word) >= len(q.Words) {
			break // own terms come first, runs after them
		}
		n := t.count(own.Term)
		if w := &words[own.Senses[0].Word]; w.term == 0 || n > w.count {
			w.term, w.count = own.Term, n
		}
	}
	topic, least := uint64(0), 0
	for i := range words {
		w := &words[i]
		if w.term == 0 || w.count < known {
			continue
		}
		size := bits.Len32(w.count)
		if topic == 0 || size < least || size == least && w.term < topic {
			topic, least = w.term, size
		}
	}
	return topic
}

// count counts a term and returns how often it has been counted: never too low, except because of
// aging.
func (t *Topics) count(term uint64) uint32 {
	least := ^uint32(0)
	h := certify.Mix(term)
	for row := range rows {
		least = min(least, t.counts[row][h>>(row*16)%columns].Add(1))
	}
	if t.total.Add(1)%aging == 0 {
		t.age()
	}
	return least
}

// age halves all counts, so that they follow what is being asked for.
func (t *Topics) age() {
	for row := range t.counts {
		for i := range t.counts[row] {
			c := &t.counts[row][i]
			c.Store(c.Load() / 2)
		}
	}
}
