package mapper_test

import (
	"testing"
	"time"

	"adshard/balance"
)

// campaigns gives all certificates of an answer the same parents, 1 to n.
func campaigns(c *balance.Certified, n uint64) {
	for _, part := range []*balance.Certificate{c.Source, c.Target, &c.Truth} {
		part.Parents = nil
		for id := uint64(1); id <= n; id++ {
			part.Parents = append(part.Parents, balance.ParentSum{Parent: balance.Parent{Kind: 2, ID: id}, Hi: 1, Lo: id})
		}
	}
}

// mark makes the database change campaigns, which concern the whole ring.
func (r *rig) mark(ids ...uint64) {
	for _, id := range ids {
		r.clock++
		r.m.Changes(r.now, []balance.Change{{
			Clock: r.clock, Parent: balance.Parent{Kind: 2, ID: id}, Items: balance.Interval{Hi: balance.MaxKey},
		}})
	}
}

// TestAParentsChangeLeavesItemsConclusive: after a change of a parent, only the parent itself
// is asked for again.
func TestAParentsChangeLeavesItemsConclusive(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	r.mark(7)
	r.answer(func(c *balance.Certified) {
		campaigns(c, 20)
		c.Source.Clock--
		c.Source.Parents[6].Lo++ // its old value
	})
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 1 || r.asked[0].Wanted != 0 || len(r.asked[0].Parents) != 1 || r.asked[0].Parents[0].ID != 7 {
		t.Fatalf("%+v", r.asked)
	}
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}

// TestSteadyBudgetMarksDoNotHoldUpAMove: one or thousands of campaigns that change all the time
// are rewritten all the time, and count as equal in the end.
func TestSteadyBudgetMarksDoNotHoldUpAMove(t *testing.T) {
	for name, n := range map[string]uint64{"one": 1, "thousands": 3000} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 4, nil, "a", "b")
			r.start0()
			ids := make([]uint64, n)
			for i := range ids {
				ids[i] = uint64(i + 1)
			}
			rounds := 0
			for ; r.slice(0).Move.Phase == balance.Copying && rounds < 20; rounds++ {
				for len(r.asked) == 0 && r.slice(0).Move.Phase == balance.Copying {
					r.mark(ids...)
					r.pass(200 * time.Millisecond)
				}
				if len(r.asked) == 0 {
					break
				}
				r.mark(ids...)
				r.answer(func(c *balance.Certified) {
					if len(c.Target.Parents) == 0 {
						campaigns(c, n)
					}
					c.Source.Clock -= n // before the last change of each campaign
					c.Target.Clock -= n
				})
			}
			r.phase(0, balance.Switched)
			if rounds > 8 {
				t.Errorf("it took %d questions", rounds)
			}
		})
	}
}

// TestAWrongParentIsNeverLetGo: a wrong parent is never accepted, whether it does not change or
// has changed before the slaves were read.
func TestAWrongParentIsNeverLetGo(t *testing.T) {
	for name, wrong := range map[string]func(*balance.Certified){
		"on the target": func(c *balance.Certified) { c.Target.Parents[0].Hi++ },
		"on the source": func(c *balance.Certified) { c.Source.Parents[0].Lo++ },
		"missing":       func(c *balance.Certified) { c.Target.Parents[0].Hi, c.Target.Parents[0].Lo = 0, 0 },
		"only there":    func(c *balance.Certified) { c.Truth.Parents = c.Truth.Parents[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 4, nil, "a", "b")
			r.start0()
			r.mark(1, 2)
			r.answer(func(c *balance.Certified) { campaigns(c, 3); wrong(c) })
			r.mark(2)
			r.pass(time.Second)
			r.phase(0, balance.Copying)
			r.answer(wrong)
			r.pass(time.Second)
			r.phase(0, balance.NoMove)
			r.wantTrouble("parent 1 of kind 2")
		})
	}
}

// TestAParentIsLetGoOnlyWhenTheSlavesHaveWrittenIt: a parent that differs is asked for until
// the slaves have applied its changes.
func TestAParentIsLetGoOnlyWhenTheSlavesHaveWrittenIt(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	stuck := r.clock
	for range 20 {
		r.mark(1)
		r.answer(func(c *balance.Certified) {
			if len(c.Target.Parents) == 0 {
				campaigns(c, 1)
			}
			c.Target.Clock = stuck
			c.Truth.Parents[0].Hi++
		})
		r.pass(time.Second)
		r.phase(0, balance.Copying)
	}
}

// TestALargeSliceIsComparedInParts: each question covers few items, all questions together
// cover all items, and none is forgotten.
func TestALargeSliceIsComparedInParts(t *testing.T) {
	r := newRig(t, 2, nil, "a", "b")
	for n := balance.Key(1); n <= 10_000; n++ {
		r.index.Put(n<<40, 10)
	}
	r.start0()
	next := balance.Key(0)
	for parts := 0; ; parts++ {
		if len(r.asked) == 0 {
			r.pass(200 * time.Millisecond)
		}
		if len(r.asked) == 0 {
			if parts < 3 || next != r.slice(0).Hi+1 {
				t.Fatalf("%d parts up to %x", parts, uint64(next))
			}
			break
		}
		q := r.asked[0]
		items := 0
		r.index.Ascend(q.Lo, q.Hi, func(balance.Key, uint32) bool { items++; return true })
		if q.Lo != next || items > 4096 || q.Wanted != 1<<balance.Bins-1 {
			t.Fatalf("%+v with %d items after %x", q, items, uint64(next))
		}
		next = q.Hi + 1
		r.answer(nil)
	}
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}
