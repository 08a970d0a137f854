package verify

import (
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
)

const (
	// maxNeeded and maxOthers bound the questions that are under way at once, in shares (see share): those
	// that are needed, and the others, which are answered one by one.
	maxNeeded, maxOthers = 48, 16
	// askGap and failGap are the least times before the next question about a part, after an answer and after a
	// question without an answer.
	askGap, failGap = 200 * time.Millisecond, time.Second
	// certifyTime is how long an answer may take. An answer about a single large item may take weightTime for each unit
	// of the item's weight, and a copy of the item may take as long to arrive. This is some five hundred times the time
	// of a certificate on two idle cores.
	certifyTime = 30 * time.Second
	weightTime  = 2 * time.Millisecond
	// maxParents bounds the number of changes of parents that are remembered.
	maxParents = 1 << 16
)

// Verifier compares the data of slaves with the source of truth: slices that move and slaves that are to join a set,
// when asked to (compare); all data that slaves serve, continuously (scrub); and stores that were not closed (recheck).
// Questions go out, answers come in, and findings go out: a copy is right, or it differs. The Verifier acts on no
// finding itself, but it orders slaves to discard what the mapper condemns.
//
// It guarantees that a copy is found right only if it equals the source of truth at a moment not before the copy's. It
// also guarantees that a copy is found to differ only if a difference shows twice without a change in between.
type Verifier struct {
	*cluster.Cluster
	*cluster.Journal
	seq     uint64
	asked   map[uint64]*Comparison
	queue   []*Comparison // comparisons that wait for a question
	answers []balance.Certified
	// parents has the clocks of the last changes of parents, of all changes after forgotten, while anything is being
	// compared.
	parents   map[balance.Parent]uint64
	forgotten uint64
	condemned condemnedSlices
	scrub     scrubber
	rechecks  map[string]*recheck // for slaves whose stores were not closed, by name
	// moving has the comparisons of the copies of a moving slice, by the slice's id. joining has those of a slave that
	// is to join a set, by the slave's name.
	moving       map[uint64][]*Comparison
	joining      map[string][]*Comparison
	certificates Certificates

	questions []balance.Certify
	orders    []balance.Discard
}

// New returns a verifier without comparisons under way.
func New(c *cluster.Cluster, j *cluster.Journal) *Verifier {
	return &Verifier{
		Cluster: c, Journal: j, asked: map[uint64]*Comparison{}, parents: map[balance.Parent]uint64{},
		condemned: condemnedSlices{}, rechecks: map[string]*recheck{},
		moving: map[uint64][]*Comparison{}, joining: map[string][]*Comparison{},
	}
}

// Out returns the questions to be asked and the orders to be sent. Each is returned once.
func (q *Verifier) Out() ([]balance.Certify, []balance.Discard) {
	questions, discards := q.questions, q.orders
	q.questions, q.orders = nil, nil
	return questions, discards
}

// CompareMove returns a comparison for the copy of a moving slice on a slave. The caller must enqueue it. from is the
// shard from which the slice moves, and hurry says that it had to leave that shard.
func (q *Verifier) CompareMove(from balance.ShardID, hurry bool, s balance.Slice, target string) *Comparison {
	c := &Comparison{
		Purpose: Moving, moves: from, hurry: hurry, off: true,
		Target: target, Id: s.ID, Generation: s.Generation, All: balance.Interval{Lo: s.Lo, Hi: s.Hi},
	}
	c.begin(q.Cluster, s.Lo)
	return c
}

// SetMove sets the comparisons of a moving slice's copies.
func (q *Verifier) SetMove(slice uint64, checks []*Comparison) { q.moving[slice] = checks }

// ForgetMove drops the comparisons of a slice that is no longer moving.
func (q *Verifier) ForgetMove(slice uint64) { delete(q.moving, slice) }

// Restart makes a copy be compared from its beginning.
func (q *Verifier) Restart(c *Comparison) {
	delete(q.asked, c.asked)
	c.restart(q.Cluster)
}

// GiveUp ends a comparison.
func (q *Verifier) GiveUp(c *Comparison) {
	delete(q.asked, c.asked)
	c.off = true
}

// CompareJoining begins to compare some keys of a slave that is to join a set. It returns how many of the slave's
// maxChecks shares the comparison takes.
func (q *Verifier) CompareJoining(slave string, h balance.Held, keys balance.Interval) int {
	c := &Comparison{Purpose: Joining, Target: slave, Id: h.ID, Generation: h.Generation, All: keys}
	c.begin(q.Cluster, keys.Lo)
	q.joining[slave] = append(q.joining[slave], c)
	q.Enqueue(c)
	return c.share()
}

// JoiningChecks returns the keys that are being compared of a slave that is to join a set, and the number of shares
// that are free.
func (q *Verifier) JoiningChecks(slave string) (keys []balance.Interval, free int) {
	for _, c := range q.joining[slave] {
		keys = append(keys, c.All)
	}
	return keys, freeShares(q.joining[slave])
}

// DropJoining gives up the comparisons of a slave that is to join a set, except those whose current part lies within
// the given keys.
func (q *Verifier) DropJoining(slave string, within []balance.Interval) {
	q.keepJoining(slave, func(c *Comparison) bool { return !balance.Covers(within, c.part) })
}

// DropJoined ends a comparison of a slave that is to join a set.
func (q *Verifier) DropJoined(c *Comparison) {
	q.keepJoining(c.Target, func(o *Comparison) bool { return o == c })
}

func (q *Verifier) keepJoining(slave string, drop func(*Comparison) bool) {
	list := q.without(q.joining[slave], drop)
	if q.joining[slave] = list; len(list) == 0 {
		delete(q.joining, slave)
	}
}

// ItemsLoaded makes the first pass of the scrub wait for slaves that are not back yet.
func (q *Verifier) ItemsLoaded(now time.Duration) {
	q.scrub.next = now + min(q.Config.Scrub/10, scrubDelay)
}

// Counts returns the results of comparisons so far.
func (q *Verifier) Counts() Certificates { return q.certificates }

// Awaits reports whether the answer to a question is still expected.
func (q *Verifier) Awaits(seq uint64) bool { return q.asked[seq] != nil }

// RecheckOf returns the progress in comparing a store that was not closed, or nil if it is not compared.
func (q *Verifier) RecheckOf(slave string) *RecheckState {
	r := q.rechecks[slave]
	if r == nil {
		return nil
	}
	s := r.state()
	return &s
}

// Enqueue adds a comparison to the queue, unless it is there already.
func (q *Verifier) Enqueue(c *Comparison) {
	if !c.queued {
		c.queued = true
		q.queue = append(q.queue, c)
	}
}

// Touch records a change of an item or parent that is being compared.
func (q *Verifier) Touch(c balance.Change) {
	scrubbed := q.scrub.check
	switch {
	case q.Model == nil || !q.comparing():
	case c.Key != 0:
		for _, check := range q.moving[q.Model.At(c.Key).ID] {
			check.touch(c)
		}
		for _, list := range q.joining {
			for _, check := range list {
				check.touch(c)
			}
		}
		for _, r := range q.rechecks {
			for _, check := range r.checks {
				check.touch(c)
			}
		}
		if scrubbed != nil {
			scrubbed.touch(c)
		}
	default:
		if len(q.parents) >= maxParents {
			clear(q.parents)
			q.forgotten = c.Clock
		}
		q.parents[c.Parent] = c.Clock
	}
}

// comparing reports whether anything is being compared.
func (q *Verifier) comparing() bool {
	return len(q.moving) > 0 || q.scrub.check != nil || len(q.joining) > 0 || len(q.rechecks) > 0
}

// touch records a change of an item, if it lies in the current part.
func (c *Comparison) touch(v balance.Change) {
	if c.part.Lo <= v.Key && v.Key <= c.part.Hi {
		c.changed[balance.Bin(v.Key)] = v.Clock
	}
}

// Findings judges the answers that have become conclusive. It calls act for each finding at once, since that may make
// later answers pointless.
func (q *Verifier) Findings(now time.Duration, act func(Finding)) {
	q.answers = slices.DeleteFunc(q.answers, func(a balance.Certified) bool {
		if a.Truth.Clock > q.Clock {
			return false
		}
		if c := q.asked[a.Seq]; c != nil {
			if f := q.judge(now, c, a); f.Of != nil {
				act(f)
			}
		}
		return true
	})
}

// Step sends the questions and orders that are due.
func (q *Verifier) Step(now time.Duration) {
	q.recheckOn(now)
	q.scrubOn(now)
	q.orderDiscards(now)
	if !q.comparing() {
		clear(q.parents)
	}
	needed := func(c *Comparison) bool { return q.needed(now, c) }
	urgent, others := maxNeeded, maxOthers
	for _, c := range q.asked {
		if needed(c) {
			urgent -= c.share()
		} else {
			others -= c.share()
		}
	}
	q.askQueued(now, urgent, needed)
	q.askQueued(now, others, func(c *Comparison) bool { return !needed(c) })
}

// compares reports whether questions about a comparison are still to be asked.
func (q *Verifier) compares(c *Comparison) bool {
	if c.Purpose == scrubbing {
		return q.scrub.check == c
	}
	return !c.off
}

// Answered takes the answer to a question: certificates, or why there are none. The comparison is then decided or asked
// about again.
func (q *Verifier) Answered(now time.Duration, a balance.Certified) {
	c := q.asked[a.Seq]
	if c == nil {
		return
	}
	if a.Failed == nil && (a.Target == nil || c.Source != "" && a.Source == nil) {
		a.Failed = fault.Newf(fault.Internal, "balance: certify", "a certificate is missing")
	}
	if a.Failed != nil {
		q.unanswered(now, c, a.Failed)
	} else {
		q.answers = append(q.answers, a)
	}
}

// unanswered schedules another question, about fewer items if this one took too long.
func (q *Verifier) unanswered(now time.Duration, c *Comparison, why error) {
	delete(q.asked, c.asked)
	c.asked, c.failed, c.next = 0, why.Error(), now+failGap
	q.certificates.Again++
	if fault.Is(why, fault.Deadline) && c.divide(q.Cluster) {
		c.limit = c.most
		if c.scrubs() {
			q.scrub.tries, q.scrub.fails = 0, 0
		}
	}
	if c.scrubs() {
		q.scrubFailed(now)
		return
	}
	q.Enqueue(c)
}

// Expire gives up questions that have had no answer for too long.
func (q *Verifier) Expire(now time.Duration) {
	late := func(c *Comparison) {
		if most := c.within(); c.asked != 0 && now >= c.sent+most {
			q.unanswered(now, c, fault.Newf(fault.Deadline, "balance: certify", "there was no answer for %s", most))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(q.moving)) {
		for _, c := range q.moving[id] {
			late(c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.joining)) {
		for _, c := range q.joining[name] {
			late(c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.rechecks)) {
		for _, c := range q.rechecks[name].checks {
			late(c)
		}
	}
	if c := q.scrub.check; c != nil {
		late(c)
	}
}

// judge compares certificates, and returns the finding for the owner of the comparison. If Of is nil, there is nothing
// to tell.
func (q *Verifier) judge(now time.Duration, c *Comparison, a balance.Certified) (f Finding) {
	delete(q.asked, c.asked)
	c.asked, c.failed, c.next = 0, "", now+askGap
	switch c.Purpose {
	case scrubbing:
		if !q.scrubCompares(now, c, a) {
			return f
		}
	case Joining:
		if why := c.unlike(a); why != "" {
			return Finding{Of: c, Target: why}
		}
	case rechecking:
		if !q.recheckCompares(c, a) {
			return f
		}
	}
	if a.Source != nil && a.Source.Builder != a.Truth.Builder {
		a.Source = nil // data built by another version cannot be compared
	}
	f = c.take(q, a, q.Clock)
	switch {
	case f.Differs():
		q.differed(c)
		f.Of = c
	case c.scrubs():
		q.scrubbed(now)
	default:
		f = q.compared(now, c, f)
	}
	return f
}

// compared continues, after an answer without a confirmed difference, with the copy of a slave that is to serve.
func (q *Verifier) compared(now time.Duration, c *Comparison, f Finding) Finding {
	f.Of = c
	if !c.partDone() {
		q.certificates.Again++
		c.divideIfChanging(q.Cluster)
		q.Enqueue(c)
		return f
	}
	part := c.part
	f.Right, f.Done = &part, c.Done()
	if !f.Done {
		c.parts++
		c.widen()
		c.begin(q.Cluster, c.part.Hi+1)
		c.next = now
		q.Enqueue(c)
		return f
	}
	if c.Purpose == rechecking {
		q.dropRecheck(c)
	}
	q.certificates.Equal++
	q.MoveStep(now, c.Id, "the copy on %s is complete and equals the database: %s", c.Target, cluster.Counted(int(c.items), "ad group"))
	return f
}

// differed ends a comparison of the verifier's own that found a difference.
func (q *Verifier) differed(c *Comparison) {
	q.certificates.Different++
	switch c.Purpose {
	case scrubbing:
		q.scrub.different()
	case rechecking:
		q.dropRecheck(c)
	}
}

// without gives up the comparisons of a list for which `which` is true, and returns the others.
func (q *Verifier) without(list []*Comparison, which func(*Comparison) bool) []*Comparison {
	return slices.DeleteFunc(list, func(c *Comparison) bool {
		if !which(c) {
			return false
		}
		delete(q.asked, c.asked)
		c.off = true
		return true
	})
}

// Certificates counts the results of comparisons: whole slices found equal, copies that differ, and comparisons to be
// repeated because something changed in the meantime or a slave did not answer.
type Certificates struct{ Equal, Different, Again uint64 }

// maxChecks bounds the slices of a joining slave that are compared at once, in shares (see share). A shard may have
// thousands of small slices, many of which are certified together.
const maxChecks = 32

// freeShares returns how many of the maxChecks shares of a slave are free.
func freeShares(checks []*Comparison) int {
	free := maxChecks
	for _, c := range checks {
		free -= c.share()
	}
	return free
}
