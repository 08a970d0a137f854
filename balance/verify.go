package balance

import (
	"fmt"
	"maps"
	"slices"
	"time"

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

// verifier asks for certificates.
type verifier struct {
	seq     uint64
	asked   map[uint64]*comparison
	queue   []*comparison // to be asked about
	answers []Certified
	// parents are the clocks of the last changes of parents, of all after
	// forgotten, while something is being compared.
	parents   map[Parent]uint64
	forgotten uint64
	condemned condemnedSlices
}

func newVerifier() verifier {
	return verifier{asked: map[uint64]*comparison{}, parents: map[Parent]uint64{}, condemned: condemnedSlices{}}
}

func (q *verifier) enqueue(c *comparison) {
	if !c.queued {
		c.queued = true
		q.queue = append(q.queue, c)
	}
}

// uncertify forgets what was found equal.
func (m *Mapper) uncertify(a *arrival) {
	delete(m.verify.asked, a.check.asked)
	a.check.restart(m)
	if !slices.ContainsFunc(a.move.arrivals, (*arrival).done) {
		a.move.first = 0
	}
	if a.arrived {
		m.verify.enqueue(a.check)
	}
}

// touch records a change of something that is being compared.
func (m *Mapper) touch(c Change) {
	scrubbed := m.scrub.check
	switch {
	case m.model == nil || !m.comparing():
	case c.Key != 0:
		if v := m.moves.all[m.model.At(c.Key).ID]; v != nil {
			for _, a := range v.arrivals {
				a.check.touch(c)
			}
		}
		for _, w := range m.entrances {
			for _, check := range w.checks {
				check.touch(c)
			}
		}
		for _, r := range m.rechecks {
			for _, check := range r.checks {
				check.touch(c)
			}
		}
		if scrubbed != nil {
			scrubbed.touch(c)
		}
	default:
		q := &m.verify
		if len(q.parents) >= maxParents {
			clear(q.parents)
			q.forgotten = c.Clock
		}
		q.parents[c.Parent] = c.Clock
	}
}

// comparing reports whether anything is being compared.
func (m *Mapper) comparing() bool {
	return len(m.moves.all) > 0 || m.scrub.check != nil || len(m.entrances) > 0 || len(m.rechecks) > 0
}

// touch records a change of an item.
func (c *comparison) touch(v Change) {
	if c.part.Lo <= v.Key && v.Key <= c.part.Hi {
		c.bins[Bin(v.Key)] = v.Clock
	}
}

// certify judges the answers that have become conclusive and sends the questions
// that are due.
func (m *Mapper) certify(now time.Duration) {
	m.verify.answers = slices.DeleteFunc(m.verify.answers, func(a Certified) bool {
		if a.Truth.Clock > m.clock {
			return false
		}
		if c := m.verify.asked[a.Seq]; c != nil {
			m.judge(now, c, a)
		}
		return true
	})
	m.recheckOn(now)
	m.scrubOn(now)
	m.discard(now)
	if !m.comparing() {
		clear(m.verify.parents)
	}
	needed := func(c *comparison) bool { return m.needed(now, c) }
	urgent, others := maxNeeded, maxOthers
	for _, c := range m.verify.asked {
		if needed(c) {
			urgent -= c.share()
		} else {
			others -= c.share()
		}
	}
	m.askQueued(now, urgent, needed)
	m.askQueued(now, others, func(c *comparison) bool { return !needed(c) })
}

// compares reports whether a comparison is still needed.
func (m *Mapper) compares(c *comparison) bool {
	switch {
	case c.arrival != nil:
		a := c.arrival
		v := a.move
		return m.moves.all[v.id] == v && slices.Contains(v.arrivals, a) && v.phase == Copying && a.arrived && v.doomed == ""
	case c.entrance != nil:
		return m.entrances[c.target] == c.entrance && slices.Contains(c.entrance.checks, c)
	case c.recheck != nil:
		return m.rechecks[c.target] == c.recheck && slices.Contains(c.recheck.checks, c)
	}
	return m.scrub.check == c
}

// Awaits reports whether an answer to a question is still awaited: its move may
// have ended, or it may have been asked again.
func (m *Mapper) Awaits(seq uint64) bool { return m.verify.asked[seq] != nil }

// Certified takes answers; one that is no longer awaited is ignored.
func (m *Mapper) Certified(now time.Duration, answers ...Certified) {
	now = m.time.at(now)
	for _, a := range answers {
		m.answered(now, a)
	}
	m.step(now)
}

func (m *Mapper) answered(now time.Duration, a Certified) {
	c := m.verify.asked[a.Seq]
	if c == nil {
		return
	}
	if a.Failed == nil && (a.Target == nil || c.source != "" && a.Source == nil) {
		a.Failed = fault.Newf(fault.Internal, "balance: certify", "a certificate is missing")
	}
	if a.Failed != nil {
		m.unanswered(now, c, a.Failed)
	} else {
		m.verify.answers = append(m.verify.answers, a)
	}
}

// unanswered schedules a question to be asked again, about less if it took too long.
func (m *Mapper) unanswered(now time.Duration, c *comparison, why error) {
	delete(m.verify.asked, c.asked)
	c.asked, c.failed, c.next = 0, why.Error(), now+failGap
	m.counters.certificates.Again++
	if fault.Is(why, fault.Deadline) && c.divide(m) {
		c.limit = c.most
		if c.scrubs() {
			m.scrub.tries, m.scrub.fails = 0, 0
		}
	}
	if c.scrubs() {
		m.scrubFailed(now)
		return
	}
	m.verify.enqueue(c)
}

// expire gives up questions that were not answered.
func (m *Mapper) expire(now time.Duration) {
	late := func(c *comparison) {
		if most := c.within(); c.asked != 0 && now >= c.sent+most {
			m.unanswered(now, c, fault.Newf(fault.Deadline, "balance: certify", "there was no answer for %s", most))
		}
	}
	for _, v := range m.moves.sorted() {
		for _, a := range v.arrivals {
			late(a.check)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.entrances)) {
		for _, c := range m.entrances[name].checks {
			late(c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.rechecks)) {
		for _, c := range m.rechecks[name].checks {
			late(c)
		}
	}
	if c := m.scrub.check; c != nil {
		late(c)
	}
}

// judge compares certificates.
func (m *Mapper) judge(now time.Duration, c *comparison, a Certified) {
	delete(m.verify.asked, c.asked)
	c.asked, c.failed, c.next = 0, "", now+askGap
	if c.scrubs() && !m.scrubCompares(now, c, a) || c.entrance != nil && !m.entranceCompares(now, c, a) ||
		c.recheck != nil && !m.recheckCompares(c, a) {
		return
	}
	if a.Source != nil && a.Source.Builder != a.Truth.Builder {
		a.Source = nil // data built by another version cannot be compared
	}
	v := c.take(&m.verify, a, m.clock)
	switch {
	case v.source != "" || v.target != "":
		m.differs(now, c, v)
	case c.scrubs():
		m.scrubbed(now)
	default:
		m.compared(now, c, v)
	}
}

// compared continues after an answer about the copy of a slave that is to serve,
// without a confirmed difference.
func (m *Mapper) compared(now time.Duration, c *comparison, found finding) {
	if found.came && c.arrival != nil {
		c.arrival.move.progress = now
	}
	switch {
	case !c.partDone():
		m.counters.certificates.Again++
		c.divideIfChanging(m)
		m.verify.enqueue(c)
		return
	case c.entrance != nil:
		m.certified(c)
	case c.recheck != nil && c.done():
		m.dropRecheck(c)
	}
	if !c.done() {
		c.parts++
		c.widen()
		c.begin(m, c.part.Hi+1)
		c.next = now
		m.verify.enqueue(c)
		return
	}
	m.counters.certificates.Equal++
	m.tell(now, c.id, "is certified: the copy on %s equals the source of truth, %d items", c.target, c.items)
	if c.arrival == nil {
		return
	}
	v := c.arrival.move
	if v.first == 0 {
		v.first = max(now, 1)
	}
	m.ready(now, v)
}

// differs cancels a move, and orders the nodes that differ to stop serving the slice.
func (m *Mapper) differs(now time.Duration, c *comparison, v finding) {
	m.counters.certificates.Different++
	what := v.target
	if what == "" {
		what = v.source
	}
	switch {
	case c.scrubs():
		m.scrub.different()
	case c.entrance != nil:
		m.entranceDiffers(now, c, v.target)
		return
	case c.recheck != nil:
		m.dropRecheck(c)
	case v.source != "" || len(m.living(c.arrival.move.b, now)) <= 1:
		m.doom(c.arrival.move, fmt.Sprintf("the data that searches read on %s differ from the source of truth (%s)", v.who(c), what))
	default: // the other replicas suffice; this one is filled again
		m.uncertify(c.arrival)
	}
	if v.source != "" {
		m.condemn(now, c.source, c, v.source)
	}
	if v.target != "" {
		m.condemn(now, c.target, c, v.target)
	}
}
