package load

import (
	"time"

	"adshard/barrels/block"
	"adshard/barrels/index"
)

// cost is the work done for queries.
type cost struct {
	examined, matched uint64
	nanos             float64
}

func (c *cost) add(d cost) {
	c.examined += d.examined
	c.matched += d.matched
	c.nanos += d.nanos
}

// SampleShare is the number of postings that one sample stands for: in a counted search, one of
// SampleShare examined postings is recorded, and one of SampleShare matches. Looking up a posting's
// group costs more than examining the posting, since the groups' keys are elsewhere in memory.
const SampleShare = 32

// Sampler records what one counted search examines. It only appends: the groups of the postings are
// looked up later, for many searches at once.
type Sampler struct {
	active   bool
	served   *index.Served
	begun    time.Time
	term     uint64 // anchor term of the block entered last
	examined uint64 // number of postings examined, including those not recorded
	list     []sample
	// Numbers of postings and matches to skip before the next one is recorded.
	skip, skipMatch int
}

// sample is a posting that stands for a number of examined or matching postings.
type sample struct {
	served    *index.Served
	key, term uint64
	cost
}

// Active reports whether the search is counted.
func (t *Sampler) Active() bool { return t.active }

// Release drops references to a request.
func (t *Sampler) Release() { t.active, t.served = false, nil }

// Begin starts the sampling of a search. nonce varies which postings are recorded.
func (t *Sampler) Begin(v *index.Served, nonce uint64) {
	t.active, t.served, t.begun, t.examined, t.list = true, v, time.Now(), 0, t.list[:0]
	t.skip, t.skipMatch = int(nonce%SampleShare), int(nonce/SampleShare%SampleShare)
}

// Enter records a block that is about to be examined.
func (t *Sampler) Enter(v *block.View, term uint64) {
	t.term = term
	n, i := v.Len(), t.skip
	t.examined += uint64(n)
	for ; i < n; i += SampleShare {
		t.list = append(t.list, sample{t.served, v.GroupKey(v.GroupOf(i)), term, cost{examined: SampleShare}})
	}
	t.skip = i - n
}

// Members records that the given members of a cached block match.
func (t *Sampler) Members(b *index.Block, members []uint8) {
	i := t.skipMatch
	for ; i < len(members); i += SampleShare {
		group := b.View.GroupOf(int(members[i]))
		t.list = append(t.list, sample{t.served, b.View.GroupKey(group), b.Term, cost{matched: SampleShare}})
	}
	t.skipMatch = i - len(members)
}

// Match records that a posting of a group in the last entered block matches.
func (t *Sampler) Match(v *block.View, group int) {
	if t.skipMatch--; t.skipMatch < 0 {
		t.skipMatch = SampleShare - 1
		t.list = append(t.list, sample{t.served, v.GroupKey(group), t.term, cost{matched: SampleShare}})
	}
}
