package verify

import (
	"slices"
	"time"

	"adshard/balance"
)

// smallWeight is the greatest weight of the items of a small part.
const smallWeight = 1 << 12

// askQueued asks questions about those comparisons in the queue that are due and for which `which`
// is true, until they take `most` shares.
func (q *Verifier) askQueued(now time.Duration, most int, which func(*Comparison) bool) {
	taken := 0
	q.queue = slices.DeleteFunc(q.queue, func(c *Comparison) bool {
		if now < c.next || taken >= most || !which(c) {
			return false // a comparison that is not due does not hold up others
		}
		c.queued = false
		if q.compares(c) && c.asked == 0 && !c.Done() {
			q.ask(now, c)
			taken += c.share()
		}
		return true
	})
}

// share returns how much of the permitted number of questions under way one question takes. Answers
// about a few small items take little time, so several may be under way at once.
func (c *Comparison) share() int {
	if c.weight <= smallWeight {
		return 1
	}
	return 4
}

// needed reports whether something waits for a comparison: a slave that is to join its set or to
// serve again, or a move that is awaited. A strategy may have hundreds of other moves under way.
func (q *Verifier) needed(now time.Duration, c *Comparison) bool {
	if c.Purpose == Moving {
		return c.hurry || q.Hurries(c.moves, now)
	}
	return c.Purpose != scrubbing
}

func (q *Verifier) ask(now time.Duration, c *Comparison) {
	q.seq++
	c.asked, c.wanted, c.sent = q.seq, allBins&^c.matched, now
	if c.Purpose == Moving {
		c.Source = q.sourceOf(now, c)
	}
	q.asked[c.asked] = c
	q.questions = append(q.questions, balance.Certify{
		Seq: c.asked, Slice: c.Id, Generation: c.Generation, Lo: c.part.Lo, Hi: c.part.Hi,
		Clock: c.tracked, Wanted: c.wanted, Parents: c.parents(), Changing: c.changes, Weight: c.weight, Alone: c.failed != "",
		Needed: q.needed(now, c), Within: c.within(), Source: c.Source, Target: c.Target,
	})
}

// sourceOf returns a slave of the shard from which the slice moves that has the part: the one asked
// before, if it still does. It returns "" if there is none.
func (q *Verifier) sourceOf(now time.Duration, c *Comparison) (best string) {
	for _, s := range q.Model.Set(c.moves) {
		if q.Alive(s.Name, now) && q.Has(s.Name, c.part) && (best == "" || s.Name == c.Source) {
			best = s.Name
		}
	}
	return best
}
