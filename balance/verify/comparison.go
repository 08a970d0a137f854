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

// Comparison tracks which parts of a slave's copy of a slice have been found equal to the
// source of truth. It goes through the slice's keys part by part, so that each question is
// small.
//
// The slaves and the source of truth are read at different clocks. A copy of a bin is right
// if it equals the source of truth's at a clock not below its own, whatever changed in the
// meantime. A copy that does not equal it is wrong only if none of the bin's items changed
// after the earliest of these clocks; the same holds for a parent. Both are decided once
// all changes up to the latest of the clocks have been seen. Other bins and parents are
// asked for again. If a slave differs, it is asked a second time, and the difference is
// confirmed only if it shows both times.
//
// A part that is not verified after some questions is made smaller, and so is a part whose
// certificates take too long. In a bin of few items, there is a moment without a change at
// which both sides can be read, however often each item changes.
//
// If a parent changes all the time, its comparison may never be conclusive. So there are a
// few questions that are only about parents and take little time. After these, the parent
// is taken as equal if the slaves have applied a change of it since it was first asked for,
// since that change has rewritten it.
type Comparison struct {
	Purpose purpose
	// moves is the shard from which the slice moves, or 0 if it does not move. hurry says
	// that the slice had to leave.
	moves balance.ShardID
	hurry bool
	// off says that no questions about the comparison are sent, for now or for good.
	off            bool
	Id, Generation uint64
	All            balance.Interval // the keys to be compared
	Source, Target string           // Source is "" if it is not asked

	part balance.Interval
	division
	count   int                     // number of items in the part, when it began
	weight  uint64                  // weight of these items
	asks    int                     // number of answers about the part
	tracked uint64                  // the clock after which changes of the part are recorded
	changed [balance.Bins]uint64    // clock of the last change of an item, by bin
	matched uint64                  // bit i is set if bin i was found equal
	suspect uint64                  // bit i is set if bin i was found different once
	open    map[balance.Parent]seen // parents that are not verified yet
	rounds  int                     // number of answers since a bin was last found equal
	parts   int                     // number of parts that are done
	items   uint64                  // number of items found equal so far
	bytes   uint64
	before  struct{ items, bytes uint64 } // items and bytes when the part began

	asked  uint64 // number of the question under way, or 0
	wanted uint64 // bins of that question
	sent   time.Duration
	next   time.Duration // no question is sent before this time
	queued bool
	failed string // why the last question had no answer, or ""
}

// Suspend sets whether questions about the comparison are held back for now.
func (c *Comparison) Suspend(off bool) { c.off = off }

// From returns the first key that is still to be compared.
func (c *Comparison) From() balance.Key { return c.part.Lo }

// Bins returns the number of bins of the current part that were found equal.
func (c *Comparison) Bins() int { return bits.OnesCount64(c.matched) }

// Failure returns why the last question had no answer, or "" if it had one.
func (c *Comparison) Failure() string { return c.failed }

// Compared returns how much was found equal so far; some is true if anything was.
func (c *Comparison) Compared() (items, bytes uint64, some bool) {
	return c.items, c.bytes, c.parts > 0 || c.matched != 0
}

// purpose says what a comparison is for.
type purpose uint8

const (
	scrubbing  purpose = iota
	rechecking         // a slave whose store was not closed
	Moving             // the copy of a slice that moves
	Joining            // a slave that is to join a set
)

// scrubs reports whether the comparison belongs to the scrub.
func (c *Comparison) scrubs() bool { return c.Purpose == scrubbing }

// unlike says that the data were built by another version and so cannot be compared. It
// returns "" if they were built by the same version.
func (c *Comparison) unlike(a balance.Certified) string {
	if a.Target.Builder == a.Truth.Builder || a.Target.Items == 0 {
		return ""
	}
	return fmt.Sprintf("it was built by version %d, the source of truth by version %d", a.Target.Builder, a.Truth.Builder)
}

// seen is what earlier answers showed about a parent.
type seen struct {
	changed   uint64 // a clock by which it had changed, when it was first inconclusive, or 0
	different bool
}

const (
	allBins = 1<<balance.Bins - 1
	// partItems and partWeight bound a part, unless it is a single item. Certificates of
	// such a part take some tenths of a second.
	partItems, partWeight = 1 << 12, 1 << 18
	// maxRounds is the number of questions that are asked about parents that keep changing.
	maxRounds = 4
)

// begin begins a new part, whose first key is lo.
func (c *Comparison) begin(w *cluster.Cluster, lo balance.Key) {
	if c.limit == 0 {
		c.limit = partItems
	}
	if c.most == 0 {
		c.most = c.limit
	}
	c.part, c.count, c.weight = balance.Interval{Lo: lo, Hi: c.All.Hi}, 0, 0
	w.Items.Ascend(lo, c.All.Hi, func(k balance.Key, w uint32) bool {
		if c.count > 0 && w > partWeight/2 { // such an item takes long enough on its own
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

// within returns how long an answer about the part may take. If a part of several items
// takes longer, it is divided.
func (c *Comparison) within() time.Duration {
	if c.count > 1 {
		return certifyTime
	}
	return Patience(certifyTime, c.weight)
}

// Patience returns how long to wait for something that depends on a single item with this
// weight: at least `least`, and more for a large item, since it cannot be divided.
func Patience(least time.Duration, weight uint64) time.Duration {
	return max(least, time.Duration(weight)*weightTime)
}

// restart forgets everything that was found.
func (c *Comparison) restart(w *cluster.Cluster) {
	c.items, c.bytes, c.asked, c.parts = 0, 0, 0, 0
	c.begin(w, c.All.Lo)
}

// partDone reports whether the current part is verified.
func (c *Comparison) partDone() bool { return c.matched == allBins && len(c.open) == 0 }

// Done reports whether the whole slice is verified.
func (c *Comparison) Done() bool { return c.partDone() && c.part.Hi == c.All.Hi }

// parents returns the parents that are not verified yet, in order.
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

// Finding is the result of one answer for a comparison.
type Finding struct {
	Of *Comparison
	// Source and Target describe a confirmed difference of that slave, or are "" if there
	// is none.
	Source, Target string
	Came           bool // something was found equal
	// Right is set if a part of the copy is right as a whole. Done says that the whole copy
	// is right with it.
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

// leaveOpen keeps a parent among those to be asked for again.
func (c *Comparison) leaveOpen(p balance.Parent, s seen) {
	if c.open == nil {
		c.open = map[balance.Parent]seen{}
	}
	c.open[p] = s
}

// hashes returns the hashes of the parents in a certificate, which may be nil.
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

// Who returns the names of the slaves that differ.
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

// part returns the share of bytes that belongs to some bins, in proportion to the number of
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
