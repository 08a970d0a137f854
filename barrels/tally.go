package barrels

import (
	"time"

	"adshard/barrels/block"
)

// cost is what was done for queries.
type cost struct {
	looked, matched uint64
	nanos           float64
}

func (c *cost) add(d cost) {
	c.looked += d.looked
	c.matched += d.matched
	c.nanos += d.nanos
}

// Within a search that is counted one posting in lookShare stands for those
// looked at, and one match in matchShare for those that matched: to find out
// whose a posting is costs more than to look at it, since the groups' keys lie
// elsewhere in memory.
const (
	lookShare  = 32
	matchShare = 8
)

// tally is what one counted search has looked at, until it is added to the
// store's loads. It only appends, so that it costs a search little.
type tally struct {
	active  bool
	served  *served
	begun   time.Time
	term    uint64   // anchor term of the block at hand
	matches []uint64 // keys of what matched in it
	// slices are costs by place in served.slices, topics by anchor term, items
	// by key; the same may stand there several times.
	slices, topics, items []part
	looked                uint64 // postings, all of them
	// So many postings or matches until the next that counts.
	skip, skipMatch int
}

// part is a cost of something.
type part struct {
	of              uint64
	looked, matched uint32
}

// begin starts a search's tally; nonce varies which postings count.
func (t *tally) begin(v *served, nonce uint64) {
	t.active, t.served, t.begun, t.looked = true, v, time.Now(), 0
	t.matches, t.slices, t.topics, t.items = t.matches[:0], t.slices[:0], t.topics[:0], t.items[:0]
	t.skip, t.skipMatch = int(nonce%lookShare), int(nonce/lookShare%matchShare)
}

// enter takes in a block that is about to be looked at.
func (t *tally) enter(v *block.View, term uint64) {
	t.leave()
	t.term = term
	n, i := v.Len(), t.skip
	if t.looked += uint64(n); i >= n {
		t.skip = i - n
		return
	}
	topic := part{of: term}
	at := t.served.index(v.GroupKey(v.GroupOf(i)))
	for ; i < n; i += lookShare {
		key := v.GroupKey(v.GroupOf(i))
		var in bool
		if at, in = t.served.next(at, key); in {
			t.part(key, part{of: uint64(at), looked: lookShare})
			topic.looked += lookShare
		}
	}
	t.skip = i - n
	if topic.looked > 0 {
		t.topics = appendPart(t.topics, topic)
	}
}

// match takes in that a posting of a group of the block at hand matches.
func (t *tally) match(v *block.View, group int) {
	if t.skipMatch--; t.skipMatch < 0 {
		t.skipMatch = matchShare - 1
		t.matches = append(t.matches, v.GroupKey(group))
	}
}

// leave takes in what matched in the block at hand.
func (t *tally) leave() {
	if len(t.matches) == 0 {
		return
	}
	topic := part{of: t.term}
	at := t.served.index(t.matches[0])
	for _, key := range t.matches {
		var in bool
		if at, in = t.served.next(at, key); in {
			t.part(key, part{of: uint64(at), matched: matchShare})
			topic.matched += matchShare
		}
	}
	t.matches = t.matches[:0]
	if topic.matched > 0 {
		t.topics = appendPart(t.topics, topic)
	}
}

// part adds the cost of a slice, of which the group with key has part.
func (t *tally) part(key uint64, p part) {
	t.slices = appendPart(t.slices, p)
	t.items = appendPart(t.items, part{key, p.looked, p.matched})
}

// appendPart adds a part, to the last one where that is of the same.
func appendPart(list []part, p part) []part {
	if n := len(list); n > 0 && list[n-1].of == p.of {
		list[n-1].looked += p.looked
		list[n-1].matched += p.matched
		return list
	}
	return append(list, p)
}
