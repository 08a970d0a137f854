package balance

import (
	"slices"
	"time"
)

// smallWeight is what the items of a small part weigh at most.
const smallWeight = 1 << 12

// askQueued asks the questions of some comparisons that are due, until so many shares are taken.
func (m *Mapper) askQueued(now time.Duration, most int, which func(*comparison) bool) {
	taken := 0
	m.verify.queue = slices.DeleteFunc(m.verify.queue, func(c *comparison) bool {
		if now < c.next || taken >= most || !which(c) {
			return false // one that is not due holds up nobody
		}
		c.queued = false
		if m.compares(c) && c.asked == 0 && !c.done() {
			m.ask(now, c)
			taken += c.share()
		}
		return true
	})
}

// share is how much of what may be under way a question takes. Answers about a few small items take
// little time, and several are made at once.
func (c *comparison) share() int {
	if c.weight <= smallWeight {
		return 1
	}
	return 4
}

// needed reports whether somebody waits for a comparison: a slave is to join its set or to serve
// again, or a move is awaited. A strategy may have hundreds of others under way.
func (m *Mapper) needed(now time.Duration, c *comparison) bool {
	if c.arrival == nil {
		return c.entrance != nil || c.recheck != nil
	}
	return m.awaited(now, c.arrival.move)
}

func (m *Mapper) ask(now time.Duration, c *comparison) {
	m.verify.seq++
	c.asked, c.wanted, c.sent = m.verify.seq, allBins&^c.matched, now
	if c.arrival != nil {
		c.source = m.sourceOf(now, c)
	}
	m.verify.asked[c.asked] = c
	m.out.Certify = append(m.out.Certify, Certify{
		Seq: c.asked, Slice: c.id, Generation: c.generation, Lo: c.part.Lo, Hi: c.part.Hi,
		Clock: c.tracked, Wanted: c.wanted, Parents: c.parents(), Changing: c.changes, Weight: c.weight, Alone: c.failed != "",
		Needed: m.needed(now, c), Within: c.within(), Source: c.source, Target: c.target,
	})
}

// sourceOf returns a slave that the slice moves from and that has the part, the
// one asked before if it is still one; "": there is none.
func (m *Mapper) sourceOf(now time.Duration, c *comparison) (best string) {
	for _, s := range m.model.Set(c.arrival.move.a) {
		if m.alive(s.Name, now) && m.has(s.Name, c.part) && (best == "" || s.Name == c.source) {
			best = s.Name
		}
	}
	return best
}
