package verify

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// Comparison tracks which parts of the slaves' copies of a slice are verified to equal
// the source of truth. It proceeds part by part through the slice's keys, so that
// each question is small.
//
// The slaves and the source of truth are read at different clocks. A copy of a bin that
// equals the source of truth's at a clock not below its own is right, whatever changed
// meanwhile. One that does not is wrong only when none of its items changed after the
// earliest of these clocks, and likewise a parent; both are decided once all changes up
// to the latest have been seen. Other bins and parents are asked for again.
// A slave that differs is asked a second time, and a difference counts only if it
// shows both times.
//
// A part that is not verified after some questions is made smaller, and so is one whose
// certificates take too long. In a bin of few items there is a moment without a change
// at which both sides can be read, however often each item changes.
//
// A parent that changes all the time may never be conclusive. After a few
// questions only about parents, which take little time, it counts as equal if the
// slaves have applied a change of it since it was first asked for: that change has
// rewritten it.
type Comparison struct {
	Purpose purpose
	// moves is the shard that the slice moves from; 0: it does not move. hurry: it had to leave.
	moves balance.ShardID
	hurry bool
	// off: no questions about it are sent, for the time being or for good.
	off            bool
	Id, Generation uint64
	All            balance.Interval // the slice's keys
	Source, Target string           // source "": it is not asked

	part balance.Interval
	division
	count   int                     // items of the part, when it began
	weight  uint64                  // of them
	asks    int                     // answers about the part
	tracked uint64                  // clock after which changes of the part are remembered
	changed [balance.Bins]uint64    // clock of the last change of a bin's items
	matched uint64                  // bit i: bin i was found equal
	suspect uint64                  // bit i: bin i was found different once
	open    map[balance.Parent]seen // parents not verified yet
	rounds  int                     // questions answered since a bin was last found equal
	parts   int                     // done
	items   uint64                  // of the parts so far that are equal
	bytes   uint64
	before  struct{ items, bytes uint64 } // when the part began

	asked  uint64 // number of the question under way; 0: none
	wanted uint64 // its bins
	sent   time.Duration
	next   time.Duration // not asked before
	queued bool
	failed string // why the last question had no answer
}

// Suspend has questions about the comparison sent, or not, for the time being.
func (c *Comparison) Suspend(off bool) { c.off = off }

// From returns the first key that is still to be compared.
func (c *Comparison) From() balance.Key { return c.part.Lo }

// Bins returns how many bins of the current part were found equal.
func (c *Comparison) Bins() int { return bits.OnesCount64(c.matched) }

// Failure says why the last question had no answer; "": it had one.
func (c *Comparison) Failure() string { return c.failed }

// Compared returns what was found equal so far; some: anything was.
func (c *Comparison) Compared() (items, bytes uint64, some bool) {
	return c.items, c.bytes, c.parts > 0 || c.matched != 0
}

// purpose is what a comparison is for.
type purpose uint8

const (
	scrubbing  purpose = iota
	rechecking         // of a slave whose store was not closed
	Moving             // of the copy of a slice that moves
	Joining            // of a slave that is to join a set
)

// scrubs reports whether the comparison is the scrub's.
func (c *Comparison) scrubs() bool { return c.Purpose == scrubbing }

// unlike says that the data were built by another version, and cannot be compared; "": they
// were not.
func (c *Comparison) unlike(a balance.Certified) string {
	if a.Target.Builder == a.Truth.Builder || a.Target.Items == 0 {
		return ""
	}
	return fmt.Sprintf("it was built by version %d, the source of truth by version %d", a.Target.Builder, a.Truth.Builder)
}

// seen is what was found of a parent.
type seen struct {
	changed   uint64 // clock by which it had changed, when first inconclusive; 0: it was not
	different bool
}

const (
	allBins = 1<<balance.Bins - 1
	// partItems and partWeight bound a part, unless it is a single item: certificates of
	// it take some tenths of a second.
	partItems, partWeight = 1 << 12, 1 << 18
	// maxRounds is how many questions are asked about parents that keep changing.
	maxRounds = 4
)

// begin starts with the part that begins at a key.
func (c *Comparison) begin(w *cluster.Cluster, lo balance.Key) {
	if c.limit == 0 {
		c.limit = partItems
	}
	if c.most == 0 {
		c.most = c.limit
	}
	c.part, c.count, c.weight = balance.Interval{Lo: lo, Hi: c.All.Hi}, 0, 0
	w.Items.Ascend(lo, c.All.Hi, func(k balance.Key, w uint32) bool {
		if c.count > 0 && w > partWeight/2 { // it takes long enough by itself
			c.part.Hi = k - 1
			return false
		}
		c.count++
		c.weight += uint64(w)
		if c.count < c.most && c.weight < partWeight {
			return true
		}
		c.part.Hi = k
		return false
	})
	c.tracked, c.changed, c.matched, c.suspect, c.rounds = w.Clock, [balance.Bins]uint64{}, 0, 0, 0
	c.open, c.asks = nil, 0
	c.before.items, c.before.bytes = c.items, c.bytes
}

// within returns how long an answer about the part may take. A part of several items is
// divided when that is not enough.
func (c *Comparison) within() time.Duration {
	if c.count > 1 {
		return certifyTime
	}
	return Patience(certifyTime, c.weight)
}

// Patience returns how long to wait for what concerns a single item of a weight: at least
// some time, and more for large ones, which cannot be divided.
func Patience(least time.Duration, weight uint64) time.Duration {
	return max(least, time.Duration(weight)*weightTime)
}

// restart forgets all that was found.
func (c *Comparison) restart(w *cluster.Cluster) {
	c.items, c.bytes, c.asked, c.parts = 0, 0, 0, 0
	c.begin(w, c.All.Lo)
}

// partDone reports whether the current part is verified.
func (c *Comparison) partDone() bool { return c.matched == allBins && len(c.open) == 0 }

// Done reports whether the whole slice is verified.
func (c *Comparison) Done() bool { return c.partDone() && c.part.Hi == c.All.Hi }

// parents returns the names of the parents still open, in order.
func (c *Comparison) parents() []balance.Parent {
	out := make([]balance.Parent, 0, len(c.open))
	for p := range c.open {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b balance.Parent) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Finding is the conclusion of a comparison from one answer.
type Finding struct {
	Of *Comparison
	// Source and target describe a confirmed difference there; "" if there is none.
	Source, Target string
	Came           bool // something was found equal
	// Right is set when a part of the copy is right as a whole; done: with it all of it is.
	Right *balance.Interval
	Done  bool
}

// Differs reports whether there is a confirmed difference.
func (v *Finding) Differs() bool { return v.Source != "" || v.Target != "" }

// take evaluates an answer.
func (c *Comparison) take(q *Verifier, a balance.Certified, now uint64) (v Finding) {
	clock := min(a.Target.Clock, a.Truth.Clock)
	if a.Source != nil {
		clock = min(clock, a.Source.Clock)
	}
	late := clock < c.tracked || clock < q.forgotten
	c.rounds++
	c.asks++
	c.takeBins(a, clock, late, &v)
	c.takeParents(q, a, clock, late, now, &v)
	return v
}

func (c *Comparison) takeBins(a balance.Certified, clock uint64, late bool, v *Finding) {
	var equal, count uint64
	for i := range balance.Bins {
		bit := uint64(1) << i
		if c.wanted&bit == 0 {
			continue
		}
		count += a.Target.Bins[i].Count
		if late {
			continue
		}
		source, target := a.Source != nil && !a.Matches(a.Source, i), !a.Matches(a.Target, i)
		switch {
		case !source && !target:
			equal |= bit
			c.items += a.Target.Bins[i].Count
		case c.changed[i] > clock: // changed in between
		case c.suspect&bit == 0:
			c.suspect |= bit
		default:
			v.blame(source, target, fmt.Sprintf("items of bin %d of %d, keys %x to %x, at clock %d", i, balance.Bins, uint64(c.part.Lo), uint64(c.part.Hi), clock))
		}
	}
	if equal != 0 {
		v.Came, c.rounds = true, 0
		c.bytes += part(a.Target.Bytes, equal, count, a.Target)
	}
	c.matched |= equal
	c.suspect &^= equal
}

func (v *Finding) blame(source, target bool, what string) {
	if source && v.Source == "" {
		v.Source = what
	}
	if target && v.Target == "" {
		v.Target = what
	}
}

func (c *Comparison) takeParents(q *Verifier, a balance.Certified, clock uint64, late bool, now uint64, v *Finding) {
	truth := hashes(&a.Truth)
	source, target := hashes(a.Source), hashes(a.Target)
	before := len(c.open)
	compare := func(p balance.Parent) {
		was, ok := c.open[p]
		s, listed := source[p]
		bad, off := listed && s != truth[p], false
		if t, listed := target[p]; listed {
			off = t != truth[p]
		}
		if last := q.parents[p]; late || last > clock && (bad || off) {
			if late {
				last = now
			}
			switch {
			case !ok || was.changed == 0:
				c.leaveOpen(p, seen{changed: max(last, 1), different: was.different})
			case c.matched == allBins && c.rounds >= maxRounds && was.changed <= clock:
				delete(c.open, p)
			}
			return
		}
		switch {
		case !bad && !off:
			delete(c.open, p)
		case !was.different:
			c.leaveOpen(p, seen{changed: was.changed, different: true})
		default:
			v.blame(bad, off, fmt.Sprintf("the record of parent %d of kind %d, at clock %d", p.ID, p.Kind, clock))
		}
	}
	for _, p := range a.Target.Parents {
		compare(p.Parent)
	}
	if a.Source != nil {
		for _, p := range a.Source.Parents {
			if _, both := target[p.Parent]; !both {
				compare(p.Parent)
			}
		}
	}
	v.Came = v.Came || len(c.open) < before
}

// leaveOpen has a parent asked for again.
func (c *Comparison) leaveOpen(p balance.Parent, s seen) {
	if c.open == nil {
		c.open = map[balance.Parent]seen{}
	}
	c.open[p] = s
}

// hashes returns the parents of a certificate, which may be nil.
func hashes(c *balance.Certificate) map[balance.Parent][2]uint64 {
	if c == nil {
		return nil
	}
	out := make(map[balance.Parent][2]uint64, len(c.Parents))
	for _, p := range c.Parents {
		out[p.Parent] = [2]uint64{p.Hi, p.Lo}
	}
	return out
}

// Who names the slaves that differ.
func (v *Finding) Who() string {
	var who []string
	if v.Source != "" {
		who = append(who, v.Of.Source)
	}
	if v.Target != "" {
		who = append(who, v.Of.Target)
	}
	return strings.Join(who, " and ")
}

// part returns the share of bytes that belongs to some bins, in proportion to
// their items.
func part(bytes, bins, count uint64, c *balance.Certificate) uint64 {
	if count == 0 {
		return 0
	}
	var n uint64
	for i := range balance.Bins {
		if bins>>i&1 != 0 {
			n += c.Bins[i].Count
		}
	}
	return uint64(float64(bytes) * float64(n) / float64(count))
}
