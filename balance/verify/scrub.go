package verify

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// scrubber compares the data that slaves serve with the source of truth, part by part
// over the whole ring, again and again. It leaves out moving slices, since their moves
// compare them.
type scrubber struct {
	check    *Comparison // the comparison under way, or nil
	cursor   balance.Key // where to continue
	rank     int         // number of the slave in each set that is compared, by name
	ranks    int         // number of slaves in the largest set
	running  bool
	began    time.Duration // when the pass began
	next     time.Duration // nothing is asked before this time
	total    int           // number of items when the pass began
	done     int           // number of items that the pass is past
	tries    int           // number of questions about the current part
	division division      // that of the comparison before
	fails    int           // number of these questions without an answer
	spent    time.Duration // processor time spent on the question before
	pass     ScrubPass
	last     ScrubPass
	passes   uint64
	found    uint64 // number of differences since the mapper began
	unlike   string // the last slave found to have data of another version
}

const (
	// maxTries and maxFails are the numbers of inconclusive and of unanswered questions
	// about a part after which the pass leaves it out.
	maxTries, maxFails = 12, 3
	// scrubDelay is the longest time that the first pass waits for slaves to come back.
	scrubDelay = time.Minute
)

// ScrubPass is one pass over the ring.
type ScrubPass struct {
	// Parts is the number of parts of the ring that were compared, Items the number of
	// their items, and Different the number of parts that differed.
	Parts, Different uint64
	Items            uint64
	// Left is the number of slices, or parts of them, that were left out: because they
	// were moving, missing or changing too often, or there was no answer. Unlike is the
	// number of these that were built by another version.
	Left, Unlike uint64
	// Took is the elapsed time, and Spent the processor time.
	Took, Spent time.Duration
	// Ended is when the pass ended, in the mapper's time, or 0 if it has not ended.
	Ended time.Duration
}

// Scrub is the state of scrubbing.
type Scrub struct {
	// Interval is the time between two passes; 0 means that there are none.
	Interval time.Duration
	// Running is set while a pass is under way. Progress is the share of it that is
	// done, from 0 to 1.
	Running  bool
	Progress float64
	Pass     ScrubPass
	// Last is the last complete pass, which ended LastAgo ago. Passes is the number of
	// complete passes.
	Last    ScrubPass
	LastAgo time.Duration
	Passes  uint64
	// Differences is the number of differences found since the mapper began.
	Differences uint64
	// Unlike is a slave whose data were built by another version, and so are not
	// compared.
	Unlike string
	// Condemned has the slices that slaves must stop serving.
	Condemned []Condemned
	// Rechecks has the slaves whose stores were not closed and are being compared
	// before the pass.
	Rechecks []RecheckState
}

// Condemned is a slice whose copy on a slave differs from the source of truth, while
// the slave still serves it.
type Condemned struct {
	Slave  string
	Slice  uint64
	Reason string
	For    time.Duration
}

// scrubOn continues the pass, or starts one.
func (q *Verifier) scrubOn(now time.Duration) {
	s := &q.scrub
	if q.Config.Scrub <= 0 || q.Model == nil || s.check != nil || now < s.next {
		return
	}
	if !s.running {
		*s = scrubber{
			running: true, began: now, ranks: q.Ranks(), last: s.last, passes: s.passes, found: s.found, unlike: s.unlike,
		}
		s.total = max(1, q.Items.Len()*s.ranks)
	}
	for range scrubLook {
		v := q.Model.At(s.cursor)
		slave, there := q.Ranked(v.Shard, s.rank)
		switch {
		case !there:
			if !q.scrubPast(now, v.Hi) {
				return
			}
		case v.Move.Phase == balance.NoMove && q.Alive(slave, now) && q.Serves(slave, v) && !q.Discards(slave, v.ID):
			s.tries, s.fails = 0, 0
			s.check = &Comparison{Id: v.ID, Generation: v.Generation, All: balance.Interval{Lo: v.Lo, Hi: v.Hi}, Target: slave}
			s.check.division = s.division
			s.check.begin(q.Cluster, s.cursor)
			q.Enqueue(s.check)
			return
		case !q.scrubLeave(now, v.Hi):
			return
		}
	}
}

// scrubLook is the number of slices that are visited in a step.
const scrubLook = 64

// scrubLeave leaves out the keys up to hi. It returns false if the pass is complete.
func (q *Verifier) scrubLeave(now time.Duration, hi balance.Key) bool {
	q.scrub.pass.Left++
	return q.scrubPast(now, hi)
}

// scrubPast continues after the key hi. It reports whether the scrub may go on now.
func (q *Verifier) scrubPast(now time.Duration, hi balance.Key) bool {
	s := &q.scrub
	s.check = nil
	if hi < balance.MaxKey || s.rank+1 < s.ranks {
		q.Items.Ascend(s.cursor, hi, func(balance.Key, uint32) bool { s.done++; return true })
		if s.cursor = hi + 1; s.cursor == 0 {
			s.rank++
		}
		s.next = max(now, s.began+time.Duration(float64(q.Config.Scrub)*min(1, float64(s.done)/float64(s.total))))
		q.scrubRest(now)
		return s.next <= now
	}
	s.pass.Took, s.pass.Ended = now-s.began, now
	s.last, s.running, s.cursor, s.rank = s.pass, false, 0, 0
	s.passes++
	s.next = max(now, s.began+q.Config.Scrub)
	q.scrubRest(now)
	if s.pass.Different > 0 {
		q.Record(now, cluster.Event{Text: fmt.Sprintf("a scrub of %d ad groups found %d parts that differ", s.pass.Items, s.pass.Different)})
	}
	return false
}

// scrubRest pauses the scrub for as long as its share of a processor requires.
func (q *Verifier) scrubRest(now time.Duration) {
	s := &q.scrub
	s.next = max(s.next, now+time.Duration(float64(s.spent)*max(0, 1/q.Config.ScrubShare-1)))
	s.spent = 0
}

// scrubCompares records an answer, and reports whether it should be judged.
func (q *Verifier) scrubCompares(now time.Duration, c *Comparison, a balance.Certified) bool {
	s := &q.scrub
	s.spent += a.Took
	s.pass.Spent += a.Took
	v := q.Model.At(c.part.Lo)
	if v.ID != c.Id || v.Generation != c.Generation || q.Slave(c.Target).Id != v.Shard || !q.Serves(c.Target, v) {
		s.check = nil // the slice has changed, and will be visited again
		q.scrubRest(now)
		return false
	}
	if a.Target.Builder != a.Truth.Builder {
		s.pass.Unlike++
		if s.unlike != c.Target {
			s.unlike = c.Target
			q.Record(now, cluster.Event{Name: c.Target, Text: fmt.Sprintf(
				"its data were built by version %d and cannot be compared with those that version %d builds until it has been refilled",
				a.Target.Builder, a.Truth.Builder)})
		}
		q.scrubLeave(now, c.part.Hi)
		return false
	}
	return true
}

// scrubbed continues after an answer without a confirmed difference.
func (q *Verifier) scrubbed(now time.Duration) {
	s := &q.scrub
	c := s.check
	switch s.tries++; {
	case c.partDone():
		q.certificates.Equal++
		s.pass.Parts++
		s.pass.Items += c.items
		c.widen()
		s.division = c.division
		q.scrubPast(now, c.part.Hi)
	case s.tries >= maxTries:
		q.certificates.Again++
		q.scrubLeave(now, c.part.Hi)
	default:
		q.certificates.Again++
		if c.divideIfChanging(q.Cluster) {
			s.tries = 0
		}
		q.scrubRest(now)
		c.next = max(c.next, s.next)
		q.Enqueue(c)
	}
}

// different counts a slice that differs. The pass continues after it.
func (s *scrubber) different() {
	s.found++
	s.pass.Different++
	s.check = nil
}

// scrubFailed continues after a question that had no answer.
func (q *Verifier) scrubFailed(now time.Duration) {
	s := &q.scrub
	if s.fails++; s.fails >= maxFails {
		q.scrubLeave(now, s.check.part.Hi)
		return
	}
	q.Enqueue(s.check)
}

// ScrubStatus returns the state of scrubbing.
func (q *Verifier) ScrubStatus(now time.Duration) Scrub {
	s := &q.scrub
	out := Scrub{
		Interval: q.Config.Scrub, Running: s.running, Pass: s.pass, Last: s.last, Passes: s.passes, Differences: s.found,
		Unlike: s.unlike, Condemned: q.condemned.list(now), Rechecks: q.recheckStatus(),
	}
	if s.running {
		out.Progress = min(1, float64(s.done)/float64(max(1, s.total)))
	}
	if s.passes > 0 {
		out.LastAgo = now - s.last.Ended
	}
	return out
}
