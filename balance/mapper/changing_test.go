package mapper_test

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// torn returns a change to an answer: all items asked for change between the
// certificates of the slaves and that of the source of truth.
func (r *rig) torn(q balance.Certify) func(*balance.Certified) {
	return func(c *balance.Certified) {
		before, bins := r.clock, map[int]bool{}
		var list []balance.Change
		r.m.Items().Ascend(q.Lo, q.Hi, func(k balance.Key, _ uint32) bool {
			r.clock++
			list, bins[balance.Bin(k)] = append(list, balance.Change{Clock: r.clock, Key: k}), true
			return true
		})
		r.m.Changes(r.now, list)
		c.Truth.Clock, c.Source.Clock, c.Target.Clock = r.clock, before, before
		for bin := range bins {
			c.Truth.Bins[bin].Hi += 1000
		}
	}
}

// changing answers the questions for the first slice, all of whose items change between
// the certificates of the slaves and that of the source of truth, until a question is
// Changing, and returns this question.
func (r *rig) changing() balance.Certify {
	r.t.Helper()
	r.start0()
	for range 20 {
		if len(r.asked) == 1 && r.asked[0].Changing {
			return r.asked[0]
		}
		if len(r.asked) == 1 {
			r.answer(r.torn(r.asked[0]))
		}
		r.pass(200 * time.Millisecond)
	}
	r.t.Fatal("no part was divided")
	return balance.Certify{}
}

// TestAPartThatChangesIsDivided: a part that changes is divided until it is found equal
// to what the source of truth was at a moment after the copies' clock.
func TestAPartThatChangesIsDivided(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b")
	q := r.changing()
	if s := r.slice(0); q.Lo != s.Lo || q.Hi >= s.Hi {
		t.Fatalf("asked of %x to %x, the slice is %+v", uint64(q.Lo), uint64(q.Hi), s)
	}
	for range 200 {
		if r.slice(0).Move.Phase != balance.Copying {
			r.phase(0, balance.Switched)
			return
		}
		if len(r.asked) == 1 {
			q := r.asked[0]
			r.answer(func(c *balance.Certified) {
				then := *c.Target
				r.torn(q)(c)
				then.Clock = c.Target.Clock
				c.Before = []balance.Certificate{{}, then, {Clock: c.Truth.Clock}}
			})
		}
		r.pass(200 * time.Millisecond)
	}
	t.Fatal("the slice has not moved")
}

// TestAnOlderStateIsNotRight: a copy that lacks a change is never equal, although the
// source of truth was once in the same state.
func TestAnOlderStateIsNotRight(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b")
	r.changing()
	for range 20 {
		if len(r.asked) == 1 {
			q := r.asked[0]
			r.answer(func(c *balance.Certified) {
				then := *c.Target
				r.torn(q)(c)
				then.Clock = c.Target.Clock - 1
				c.Before = []balance.Certificate{then}
			})
		}
		r.pass(200 * time.Millisecond)
	}
	r.phase(0, balance.Copying)
}

// TestWhatChangesAndDiffersIsFound: a difference is found in an item when it does not
// change for a while.
func TestWhatChangesAndDiffersIsFound(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b")
	r.changing()
	for range 5 {
		if len(r.asked) == 1 {
			r.answer(func(c *balance.Certified) { c.Target.Bins[7].Lo++ })
		}
		r.pass(200 * time.Millisecond)
	}
	r.phase(0, balance.NoMove)
	r.wantTrouble("searches read on b differ")
}

// TestAPartThatTakesTooLongIsDivided: slices of any size are certified.
func TestAPartThatTakesTooLongIsDivided(t *testing.T) {
	for _, most := range []int{1, 5} {
		r := newRig(t, 2, nil, "a", "b")
		r.start0()
		asked := 0
		for range 2000 {
			if r.slice(0).Move.Phase != balance.Copying {
				break
			}
			if len(r.asked) == 1 {
				asked++
				items := 0
				r.m.Items().Ascend(r.asked[0].Lo, r.asked[0].Hi, func(balance.Key, uint32) bool { items++; return true })
				r.answer(func(c *balance.Certified) {
					if items > most {
						c.Failed = fault.Newf(fault.Deadline, "test", "%d items are too many", items)
					}
				})
			}
			r.pass(200 * time.Millisecond)
		}
		r.phase(0, balance.Switched)
		t.Logf("%d items in an answer: %d questions", most, asked)
	}
}
