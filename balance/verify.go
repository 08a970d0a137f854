package balance

import (
	"fmt"
	"slices"
	"time"

	"adshard/fault"
)

const (
	// maxCertify is how many questions are under way at once.
	maxCertify = 16
	// askGap and failGap are the least times between two questions about a part,
	// after an answer and after none.
	askGap, failGap = 200 * time.Millisecond, time.Second
	// certifyTime is how long an answer may take.
	certifyTime = 30 * time.Second
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
func (m *Mapper) uncertify(v *activeMove) {
	delete(m.verify.asked, v.check.asked)
	v.check.restart(m)
	if v.arrived {
		m.verify.enqueue(v.check)
	}
}

// touch records a change of something that is being compared.
func (m *Mapper) touch(c Change) {
	scrubbed := m.scrub.check
	switch {
	case len(m.moves.all) == 0 && scrubbed == nil:
	case c.Key != 0:
		if v := m.moves.all[m.model.At(c.Key).ID]; v != nil {
			v.check.touch(c)
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
	m.scrubOn(now)
	m.discard(now)
	if len(m.moves.all) == 0 && m.scrub.check == nil {
		clear(m.verify.parents)
	}
	if len(m.verify.asked) >= maxCertify {
		return
	}
	m.verify.queue = slices.DeleteFunc(m.verify.queue, func(c *comparison) bool {
		if now < c.next || len(m.verify.asked) >= maxCertify {
			return false // one that is not due holds up nobody
		}
		c.queued = false
		if m.compares(c) && c.asked == 0 && !c.done() {
			m.ask(now, c)
		}
		return true
	})
}

// compares reports whether a comparison is still needed.
func (m *Mapper) compares(c *comparison) bool {
	if v := c.move; v != nil {
		return m.moves.all[v.id] == v && v.check == c && v.phase == Copying && v.arrived && v.doomed == ""
	}
	return m.scrub.check == c
}

func (m *Mapper) ask(now time.Duration, c *comparison) {
	m.verify.seq++
	c.asked, c.wanted, c.sent = m.verify.seq, allBins&^c.matched, now
	if v := c.move; v != nil {
		c.target, c.source = m.name(v.b), ""
		if a := m.name(v.a); m.alive(a, now) && m.has(a, c.part) {
			c.source = a
		}
	}
	m.verify.asked[c.asked] = c
	m.out.Certify = append(m.out.Certify, Certify{
		Seq: c.asked, Slice: c.id, Generation: c.generation, Lo: c.part.Lo, Hi: c.part.Hi,
		Clock: c.tracked, Wanted: c.wanted, Parents: c.parents(), Source: c.source, Target: c.target,
	})
}

// has reports whether a node holds all of an interval according to its last report,
// or has not reported yet.
func (m *Mapper) has(node string, v Interval) bool {
	n := m.nodes[node]
	return n == nil || !n.reported || len(outside(v, n.table.in(Full))) == 0
}

// Awaits reports whether an answer to a question is still awaited: its move may
// have ended, or it may have been asked again.
func (m *Mapper) Awaits(seq uint64) bool { return m.verify.asked[seq] != nil }

// Certified takes an answer; one that is no longer awaited is ignored.
func (m *Mapper) Certified(now time.Duration, a Certified) {
	now = m.time.at(now)
	if c := m.verify.asked[a.Seq]; c != nil {
		if a.Failed == nil && (a.Target == nil || c.source != "" && a.Source == nil) {
			a.Failed = fault.Newf(fault.Internal, "balance: certify", "a certificate is missing")
		}
		if a.Failed != nil {
			m.unanswered(now, c, a.Failed.Error())
		} else {
			m.verify.answers = append(m.verify.answers, a)
		}
	}
	m.step(now)
}

// unanswered schedules a question to be asked again.
func (m *Mapper) unanswered(now time.Duration, c *comparison, why string) {
	delete(m.verify.asked, c.asked)
	c.asked, c.failed, c.next = 0, why, now+failGap
	m.counters.certificates.Again++
	if c.move == nil {
		m.scrubFailed(now)
		return
	}
	m.verify.enqueue(c)
}

// expire gives up questions that were not answered.
func (m *Mapper) expire(now time.Duration) {
	late := func(c *comparison) {
		if c.asked != 0 && now >= c.sent+certifyTime {
			m.unanswered(now, c, "there was no answer for "+certifyTime.String())
		}
	}
	for _, v := range m.moves.sorted() {
		late(v.check)
	}
	if c := m.scrub.check; c != nil {
		late(c)
	}
}

// judge compares certificates.
func (m *Mapper) judge(now time.Duration, c *comparison, a Certified) {
	delete(m.verify.asked, c.asked)
	c.asked, c.failed, c.next = 0, "", now+askGap
	if c.move == nil && !m.scrubCompares(now, c, a) {
		return
	}
	if a.Source != nil && a.Source.Builder != a.Truth.Builder {
		a.Source = nil // data built by another version cannot be compared
	}
	v := c.take(&m.verify, a, m.clock)
	switch {
	case v.source != "" || v.target != "":
		m.differs(now, c, v)
	case c.move == nil:
		m.scrubbed(now)
	default:
		m.compared(now, c.move, v)
	}
}

// compared continues a move after an answer without a confirmed difference.
func (m *Mapper) compared(now time.Duration, v *activeMove, found finding) {
	c := v.check
	if found.came {
		v.progress = now
	}
	switch {
	case !c.partDone():
		m.counters.certificates.Again++
		m.verify.enqueue(c)
		return
	case !c.done():
		c.parts++
		c.begin(m, c.part.Hi+1)
		c.next = now
		m.verify.enqueue(c)
		return
	}
	m.counters.certificates.Equal++
	if !v.isReady {
		v.isReady = true
		m.moves.ready = append(m.moves.ready, v)
	}
	m.tell(now, v.id, "is certified: the copy on %s equals the source of truth, %d items", m.name(v.b), c.items)
}

// differs cancels a move, and orders the nodes that differ to stop serving the slice.
func (m *Mapper) differs(now time.Duration, c *comparison, v finding) {
	m.counters.certificates.Different++
	what := v.target
	if what == "" {
		what = v.source
	}
	if c.move != nil {
		m.doom(c.move, fmt.Sprintf("the data that searches read on %s differ from the source of truth (%s)", v.who(c), what))
	} else {
		m.scrub.different()
	}
	if v.source != "" {
		m.condemn(now, c.source, c, v.source)
	}
	if v.target != "" {
		m.condemn(now, c.target, c, v.target)
	}
}
