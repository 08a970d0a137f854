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

// sampleShare: within a search that is counted one posting in so many stands for
// those looked at, and one match for those that matched. To find out whose a
// posting is costs more than to look at it, since the groups' keys lie elsewhere
// in memory.
const sampleShare = 32

// tally is what one counted search has looked at, until it is added to the
// store's loads. It only appends: whose the postings are is found out later,
// for many searches at once.
type tally struct {
	active bool
	served *served
	begun  time.Time
	term   uint64 // anchor term of the block entered last
	looked uint64 // postings, all of them
	list   []sample
	// So many postings or matches until the next that counts.
	skip, skipMatch int
}

// sample is a posting that stands for some looked at or for some that match.
type sample struct {
	served    *served
	key, term uint64
	cost
}

// begin starts a search's tally; nonce varies which postings count.
func (t *tally) begin(v *served, nonce uint64) {
	t.active, t.served, t.begun, t.looked, t.list = true, v, time.Now(), 0, t.list[:0]
	t.skip, t.skipMatch = int(nonce%sampleShare), int(nonce/sampleShare%sampleShare)
}

// enter takes in a block that is about to be looked at.
func (t *tally) enter(v *block.View, term uint64) {
	t.term = term
	n, i := v.Len(), t.skip
	t.looked += uint64(n)
	for ; i < n; i += sampleShare {
		t.list = append(t.list, sample{t.served, v.GroupKey(v.GroupOf(i)), term, cost{looked: sampleShare}})
	}
	t.skip = i - n
}

// matches takes in that these members of a kept block match.
func (t *tally) matches(b *termBlock, members []member) {
	i := t.skipMatch
	for ; i < len(members); i += sampleShare {
		group := b.view.GroupOf(int(members[i].posting))
		t.list = append(t.list, sample{t.served, b.view.GroupKey(group), b.term, cost{matched: sampleShare}})
	}
	t.skipMatch = i - len(members)
}

// match takes in that a posting of a group of the block entered last matches.
func (t *tally) match(v *block.View, group int) {
	if t.skipMatch--; t.skipMatch < 0 {
		t.skipMatch = sampleShare - 1
		t.list = append(t.list, sample{t.served, v.GroupKey(group), t.term, cost{matched: sampleShare}})
	}
}
