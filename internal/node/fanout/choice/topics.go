package choice

import (
	"math/bits"
	"sync/atomic"

	"adshard/barrels/certify"
	"adshard/search"
)

const (
	// rows and columns of the counts of terms: 256 KiB, which keep apart the some ten
	// thousand terms that most queries are made of.
	rows    = 4
	columns = 1 << 14
	// aging is the number of terms counted after which all counts are halved.
	aging = 1 << 22
	// known is how often a term must have been asked for: rarer ones are mistakes and
	// names that no keyword has.
	known = 4
)

// Topics finds what queries are about: the rarest known term of each, by how often
// terms are asked for. The thesis (4.2) calls this term-affinitized replica selection;
// there topics are computed from logs, here they are counted as queries come. It may be
// used by many goroutines at once; the zero one knows no term yet.
type Topics struct {
	counts [rows][columns]atomic.Uint32
	total  atomic.Uint64
}

// Of counts the terms of a query and returns its topic, or 0 if it has none that is known.
// Of a word's own terms only the one that is asked for most counts: its stem. How often is
// compared by powers of two, so that the topic of a query is the same for long.
func (t *Topics) Of(q *search.Query) uint64 {
	var words [search.MaxQueryWords]struct {
		term  uint64
		count uint32
	}
	for i := range q.Terms {
		own := &q.Terms[i]
		if own.Cap() != search.Identical {
			break // own terms stand first
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

// count counts a term and returns how often it was counted: never too low, except for
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

// age halves all counts, so that they follow what is asked.
func (t *Topics) age() {
	for row := range t.counts {
		for i := range t.counts[row] {
			c := &t.counts[row][i]
			c.Store(c.Load() / 2)
		}
	}
}
