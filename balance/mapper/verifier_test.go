package mapper

import (
	"slices"
	"testing"
	"time"

	"adshard/balance"
)

// comparing returns a verifier that compares the copy of a slice of one item, which moves from
// a to b, and what it found.
func comparing(t *testing.T) (q *verifier, ask func(), answer func(change func(*balance.Certified)) []finding) {
	t.Helper()
	_, c, b := planning(t, Config{Strategy: proposes{}}, balance.Active)
	q = newVerifier(c, newJournal())
	s := c.model.Slices()[1]
	check := &comparison{purpose: moving, moves: s.Node, target: "b", id: s.ID, all: balance.Interval{Lo: s.Lo, Hi: s.Hi}}
	check.begin(c, s.Lo)
	q.moving[s.ID] = []*comparison{check}
	q.enqueue(check)
	now := time.Duration(0)
	var asked []balance.Certify
	ask = func() {
		t.Helper()
		now += failGap
		c.node("a").heard, c.node("b").heard = now, now
		q.step(now)
		if asked, _ = q.out(); len(asked) != 1 || asked[0].Source != "a" || asked[0].Target != "b" {
			t.Fatalf("asked %+v; the target is node %d", asked, b)
		}
	}
	answer = func(change func(*balance.Certified)) (list []finding) {
		t.Helper()
		a := balance.Certified{Seq: asked[0].Seq, Source: &balance.Certificate{Clock: 1}, Target: &balance.Certificate{Clock: 1}, Truth: balance.Certificate{Clock: 2}}
		change(&a)
		q.answered(now, a)
		q.findings(now, func(f finding) { list = append(list, f) })
		return list
	}
	c.clock = 2
	return q, ask, answer
}

func differing(a *balance.Certified) { a.Target.Bins[3] = balance.Sum{Count: 1, Lo: 9} }

// TestAVerifierNeedsADifferenceTwice: one that shows once is asked about again.
func TestAVerifierNeedsADifferenceTwice(t *testing.T) {
	_, ask, answer := comparing(t)
	ask()
	if list := answer(differing); slices.ContainsFunc(list, func(f finding) bool { return f.differs() || f.done }) {
		t.Fatalf("found %+v at once", list)
	}
	ask()
	list := answer(differing)
	if len(list) != 1 || list[0].target == "" || list[0].source != "" || list[0].who() != "b" {
		t.Errorf("found %+v", list)
	}
}

// TestAVerifierWaitsForChanges: an answer is judged once all changes up to its clock have been
// seen, and what changed in between does not count as a difference of the copy.
func TestAVerifierWaitsForChanges(t *testing.T) {
	q, ask, answer := comparing(t)
	ask()
	ahead := func(a *balance.Certified) { differing(a); a.Truth.Clock = 3 }
	if list := answer(ahead); list != nil {
		t.Fatalf("found %+v before the change was seen", list)
	}
	for i := range 3 {
		var list []finding
		q.clock++
		q.touch(balance.Change{Clock: q.clock, Key: keyIn(q.moving, 3)})
		q.findings(0, func(f finding) { list = append(list, f) })
		if i > 0 {
			ask()
			list = answer(func(a *balance.Certified) { differing(a); a.Truth.Clock = q.clock })
		}
		if len(list) != 1 || list[0].differs() || list[0].done {
			t.Fatalf("found %+v of what changes", list)
		}
	}
	ask()
	if list := answer(func(*balance.Certified) {}); len(list) != 1 || !list[0].done {
		t.Errorf("found %+v of equal copies", list)
	}
}

// keyIn returns a key of a bin in the only slice that moves.
func keyIn(moves map[uint64][]*comparison, bin int) balance.Key {
	for _, list := range moves {
		for k := list[0].all.Lo; ; k++ {
			if balance.Bin(k) == bin {
				return k
			}
		}
	}
	return 0
}

// TestAVerifierAsksNoMoreOfWhatIsOff: what is not wanted any more is not asked about.
func TestAVerifierAsksNoMoreOfWhatIsOff(t *testing.T) {
	q, _, _ := comparing(t)
	for _, list := range q.moving {
		list[0].off = true
	}
	q.step(failGap)
	if asked, _ := q.out(); asked != nil {
		t.Errorf("asked %+v", asked)
	}
}
