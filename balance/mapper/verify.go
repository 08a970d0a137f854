package mapper

import (
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/fault"
)

const (
	// maxNeeded and maxOthers are how many questions are under way at once, in shares of a small one
	// (share), of those that are needed and of the others, which are answered one by one.
	maxNeeded, maxOthers = 48, 16
	// askGap and failGap are the least times between two questions about a part,
	// after an answer and after none.
	askGap, failGap = 200 * time.Millisecond, time.Second
	// certifyTime is how long an answer may take. One about a single large item may take
	// weightTime for each unit of its weight, and its copy as long to arrive: some five
	// hundred times what a certificate takes on two idle cores.
	certifyTime = 30 * time.Second
	weightTime  = 2 * time.Millisecond
	// maxParents bounds the changes of parents that are remembered.
	maxParents = 1 << 16
)

// verifier compares what slaves hold with the source of truth: what moves or is to join a
// set when asked (compare); all that slaves serve, continuously (scrub); and stores that were not
// closed (recheck). Questions go out, answers come in, and findings go out: what moves
// or joins is right, or a copy differs. It acts on no finding, but asks slaves to discard
// what the mapper condemns.
//
// It guarantees that a copy is found right only when it equals the source of truth at a moment
// that is not before the copy's, and that it differs only when a difference shows twice with no
// change in between.
type verifier struct {
	*cluster
	*journal
	seq     uint64
	asked   map[uint64]*comparison
	queue   []*comparison // to be asked about
	answers []balance.Certified
	// parents are the clocks of the last changes of parents, of all after
	// forgotten, while something is being compared.
	parents   map[balance.Parent]uint64
	forgotten uint64
	condemned condemnedSlices
	scrub     scrubber
	rechecks  map[string]*recheck // of slaves whose stores were not closed, by name
	// moving has the comparisons of a moving slice's copies, by its number, and joining those of
	// a slave that is to join a set, by its name.
	moving       map[uint64][]*comparison
	joining      map[string][]*comparison
	certificates Certificates

	questions []balance.Certify
	discards  []balance.Discard
}

func newVerifier(c *cluster, j *journal) *verifier {
	return &verifier{
		cluster: c, journal: j, asked: map[uint64]*comparison{}, parents: map[balance.Parent]uint64{},
		condemned: condemnedSlices{}, rechecks: map[string]*recheck{},
		moving: map[uint64][]*comparison{}, joining: map[string][]*comparison{},
	}
}

// out returns the questions to ask and the orders to send, each once.
func (q *verifier) out() ([]balance.Certify, []balance.Discard) {
	questions, discards := q.questions, q.discards
	q.questions, q.discards = nil, nil
	return questions, discards
}

// compareMove returns a comparison of the copy of a moving slice on a slave, which is to be enqueued. from is
// the node that it moves from; hurry: it had to leave that.
func (q *verifier) compareMove(from balance.NodeID, hurry bool, s balance.Slice, target string) *comparison {
	c := &comparison{
		purpose: moving, moves: from, hurry: hurry, off: true,
		target: target, id: s.ID, generation: s.Generation, all: balance.Interval{Lo: s.Lo, Hi: s.Hi},
	}
	c.begin(q.cluster, s.Lo)
	return c
}

// setMove says which comparisons are those of a moving slice's copies.
func (q *verifier) setMove(slice uint64, checks []*comparison) { q.moving[slice] = checks }

// forgetMove drops the comparisons of a slice that does not move any more.
func (q *verifier) forgetMove(slice uint64) { delete(q.moving, slice) }

// restart has a copy compared from its beginning.
func (q *verifier) restart(c *comparison) {
	delete(q.asked, c.asked)
	c.restart(q.cluster)
}

// giveUp ends a comparison.
func (q *verifier) giveUp(c *comparison) {
	delete(q.asked, c.asked)
	c.off = true
}

// compareJoining begins to compare keys of a slave that is to join a set, and returns how many shares of those
// that the slave may have that takes.
func (q *verifier) compareJoining(slave string, h balance.Held, keys balance.Interval) int {
	c := &comparison{purpose: joining, target: slave, id: h.ID, generation: h.Generation, all: keys}
	c.begin(q.cluster, keys.Lo)
	q.joining[slave] = append(q.joining[slave], c)
	q.enqueue(c)
	return c.share()
}

// joiningChecks returns what is being compared of a slave that is to join a set, and how many shares are free for more.
func (q *verifier) joiningChecks(slave string) (keys []balance.Interval, free int) {
	for _, c := range q.joining[slave] {
		keys = append(keys, c.all)
	}
	return keys, freeShares(q.joining[slave])
}

// dropJoining gives up what is being compared of a slave that is to join a set, unless its current part
// lies within some keys.
func (q *verifier) dropJoining(slave string, within []balance.Interval) {
	q.keepJoining(slave, func(c *comparison) bool { return !balance.Covers(within, c.part) })
}

// dropJoined ends a comparison of a slave that is to join a set.
func (q *verifier) dropJoined(c *comparison) {
	q.keepJoining(c.target, func(o *comparison) bool { return o == c })
}

func (q *verifier) keepJoining(slave string, drop func(*comparison) bool) {
	list := q.without(q.joining[slave], drop)
	if q.joining[slave] = list; len(list) == 0 {
		delete(q.joining, slave)
	}
}

// itemsLoaded has the first pass of the scrub wait for slaves that are not back yet.
func (q *verifier) itemsLoaded(now time.Duration) {
	q.scrub.next = now + min(q.cfg.Scrub/10, scrubDelay)
}

// counts returns the results of comparisons so far.
func (q *verifier) counts() Certificates { return q.certificates }

// awaits reports whether an answer to a question is awaited.
func (q *verifier) awaits(seq uint64) bool { return q.asked[seq] != nil }

// recheckOf returns the progress of comparing a store that was not closed; nil: it is not compared.
func (q *verifier) recheckOf(slave string) *RecheckState {
	r := q.rechecks[slave]
	if r == nil {
		return nil
	}
	s := r.state()
	return &s
}

func (q *verifier) enqueue(c *comparison) {
	if !c.queued {
		c.queued = true
		q.queue = append(q.queue, c)
	}
}

// touch records a change of something that is being compared.
func (q *verifier) touch(c balance.Change) {
	scrubbed := q.scrub.check
	switch {
	case q.model == nil || !q.comparing():
	case c.Key != 0:
		for _, check := range q.moving[q.model.At(c.Key).ID] {
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
func (q *verifier) comparing() bool {
	return len(q.moving) > 0 || q.scrub.check != nil || len(q.joining) > 0 || len(q.rechecks) > 0
}

// touch records a change of an item.
func (c *comparison) touch(v balance.Change) {
	if c.part.Lo <= v.Key && v.Key <= c.part.Hi {
		c.changed[balance.Bin(v.Key)] = v.Clock
	}
}

// findings judges the answers that have become conclusive and has each finding acted on at
// once: that may make the answers after it pointless.
func (q *verifier) findings(now time.Duration, act func(finding)) {
	q.answers = slices.DeleteFunc(q.answers, func(a balance.Certified) bool {
		if a.Truth.Clock > q.clock {
			return false
		}
		if c := q.asked[a.Seq]; c != nil {
			if f := q.judge(now, c, a); f.c != nil {
				act(f)
			}
		}
		return true
	})
}

// step sends the questions and orders that are due.
func (q *verifier) step(now time.Duration) {
	q.recheckOn(now)
	q.scrubOn(now)
	q.discard(now)
	if !q.comparing() {
		clear(q.parents)
	}
	needed := func(c *comparison) bool { return q.needed(now, c) }
	urgent, others := maxNeeded, maxOthers
	for _, c := range q.asked {
		if needed(c) {
			urgent -= c.share()
		} else {
			others -= c.share()
		}
	}
	q.askQueued(now, urgent, needed)
	q.askQueued(now, others, func(c *comparison) bool { return !needed(c) })
}

// compares reports whether a comparison is still needed.
func (q *verifier) compares(c *comparison) bool {
	if c.purpose == scrubbing {
		return q.scrub.check == c
	}
	return !c.off
}

func (q *verifier) answered(now time.Duration, a balance.Certified) {
	c := q.asked[a.Seq]
	if c == nil {
		return
	}
	if a.Failed == nil && (a.Target == nil || c.source != "" && a.Source == nil) {
		a.Failed = fault.Newf(fault.Internal, "balance: certify", "a certificate is missing")
	}
	if a.Failed != nil {
		q.unanswered(now, c, a.Failed)
	} else {
		q.answers = append(q.answers, a)
	}
}

// unanswered schedules a question to be asked again, about less if it took too long.
func (q *verifier) unanswered(now time.Duration, c *comparison, why error) {
	delete(q.asked, c.asked)
	c.asked, c.failed, c.next = 0, why.Error(), now+failGap
	q.certificates.Again++
	if fault.Is(why, fault.Deadline) && c.divide(q.cluster) {
		c.limit = c.most
		if c.scrubs() {
			q.scrub.tries, q.scrub.fails = 0, 0
		}
	}
	if c.scrubs() {
		q.scrubFailed(now)
		return
	}
	q.enqueue(c)
}

// expire gives up questions that were not answered.
func (q *verifier) expire(now time.Duration) {
	late := func(c *comparison) {
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

// judge compares certificates and returns what its owner must know. A finding without a
// comparison says nothing.
func (q *verifier) judge(now time.Duration, c *comparison, a balance.Certified) (f finding) {
	delete(q.asked, c.asked)
	c.asked, c.failed, c.next = 0, "", now+askGap
	switch c.purpose {
	case scrubbing:
		if !q.scrubCompares(now, c, a) {
			return f
		}
	case joining:
		if why := c.unlike(a); why != "" {
			return finding{c: c, target: why}
		}
	case rechecking:
		if !q.recheckCompares(c, a) {
			return f
		}
	}
	if a.Source != nil && a.Source.Builder != a.Truth.Builder {
		a.Source = nil // data built by another version cannot be compared
	}
	f = c.take(q, a, q.clock)
	switch {
	case f.differs():
		q.differed(c)
		f.c = c
	case c.scrubs():
		q.scrubbed(now)
	default:
		f = q.compared(now, c, f)
	}
	return f
}

// compared continues after an answer about the copy of a slave that is to serve,
// without a confirmed difference.
func (q *verifier) compared(now time.Duration, c *comparison, f finding) finding {
	f.c = c
	if !c.partDone() {
		q.certificates.Again++
		c.divideIfChanging(q.cluster)
		q.enqueue(c)
		return f
	}
	part := c.part
	f.right, f.done = &part, c.done()
	if !f.done {
		c.parts++
		c.widen()
		c.begin(q.cluster, c.part.Hi+1)
		c.next = now
		q.enqueue(c)
		return f
	}
	if c.purpose == rechecking {
		q.dropRecheck(c)
	}
	q.certificates.Equal++
	q.tell(now, c.id, "is certified: the copy on %s equals the source of truth, %d items", c.target, c.items)
	return f
}

// differed ends a comparison of the verifier's own that found a difference.
func (q *verifier) differed(c *comparison) {
	q.certificates.Different++
	switch c.purpose {
	case scrubbing:
		q.scrub.different()
	case rechecking:
		q.dropRecheck(c)
	}
}

// without gives up some comparisons of a list and returns the others.
func (q *verifier) without(list []*comparison, which func(*comparison) bool) []*comparison {
	return slices.DeleteFunc(list, func(c *comparison) bool {
		if !which(c) {
			return false
		}
		delete(q.asked, c.asked)
		c.off = true
		return true
	})
}

// Certificates counts comparisons of a slice's copies: whole slices found equal,
// copies that differ, and comparisons to be repeated because something changed
// meanwhile or a node did not answer.
type Certificates struct{ Equal, Different, Again uint64 }

// maxChecks is how many slices of a slave that is to join are compared at once, in shares of a small one
// (share). A shard may have thousands of those, of which many are certified together.
const maxChecks = 32

// freeShares returns how many of the maxChecks shares of a slave its comparisons leave free.
func freeShares(checks []*comparison) int {
	free := maxChecks
	for _, c := range checks {
		free -= c.share()
	}
	return free
}
