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

// tally is what one counted search has looked at, until it is added to the
// store's loads. It only appends, so that it costs a search little.
type tally struct {
	active bool
	served *served
	begun  time.Time
	term   uint64 // anchor term of the block at hand
	groups []tallied
	// parts are costs by place in served.slices, one for each run of groups of
	// a slice in a block; topics one for each block, items those of one group
	// in itemShare.
	parts, topics, items []part
	looked               uint64 // of all parts
	skip                 int    // groups until the next one among items
}

// tallied is a group of the block at hand.
type tallied struct {
	key             uint64
	slice           int // place in served.slices; -1: not served
	looked, matched uint32
}

// part is a cost of something.
type part struct {
	of              uint64
	looked, matched uint32
}

// itemShare: one of so many groups that a counted search looks at counts for
// the most expensive items.
const itemShare = 8

// begin starts a search's tally; nonce varies which groups count as items.
func (t *tally) begin(v *served, nonce uint64) {
	t.active, t.served, t.begun = true, v, time.Now()
	t.groups, t.parts, t.topics, t.items = t.groups[:0], t.parts[:0], t.topics[:0], t.items[:0]
	t.looked, t.skip = 0, int(nonce%itemShare)
}

// enter takes in a block that is about to be looked at.
func (t *tally) enter(v *block.View, term uint64) {
	t.leave()
	t.term = term
	n := v.Groups()
	if cap(t.groups) < n {
		t.groups = make([]tallied, n+n/2)
	}
	t.groups = t.groups[:n]
	list, at := t.served.slices, -1
	for i := range t.groups {
		key := v.GroupKey(i)
		if at < 0 || at < len(list) && list[at].Hi < key {
			at = t.served.index(key)
		}
		slice := -1
		if at < len(list) && list[at].Lo <= key {
			slice = at
		}
		t.groups[i] = tallied{key: key, slice: slice}
	}
	v.EachGroup(func(g int) { t.groups[g].looked++ })
}

// leave adds up the block at hand.
func (t *tally) leave() {
	topic := part{of: t.term}
	for i := range t.groups {
		g := &t.groups[i]
		if g.slice < 0 {
			continue
		}
		topic.looked += g.looked
		topic.matched += g.matched
		if n := len(t.parts); n > 0 && t.parts[n-1].of == uint64(g.slice) {
			t.parts[n-1].looked += g.looked
			t.parts[n-1].matched += g.matched
		} else {
			t.parts = append(t.parts, part{uint64(g.slice), g.looked, g.matched})
		}
		if t.skip--; t.skip < 0 {
			t.skip = itemShare - 1
			t.items = append(t.items, part{g.key, g.looked, g.matched})
		}
	}
	t.groups = t.groups[:0]
	if topic.looked > 0 {
		t.looked += uint64(topic.looked)
		t.topics = append(t.topics, topic)
	}
}
