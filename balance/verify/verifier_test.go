package verify

import (
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/cluster/clustertest"
)

// comparing returns a verifier that compares the copy of a slice of one item, which moves from
// a to b. ask checks the question, and answer answers it and returns the findings.
func comparing(t *testing.T) (q *Verifier, ask func(), answer func(change func(*balance.Certified)) []Finding) {
	t.Helper()
	c, b := clustertest.New(t, cluster.Config{Strategy: clustertest.Proposes{}}, balance.Active)
	q = New(c, cluster.NewJournal())
	s := c.Model.Slices()[1]
	check := q.CompareMove(s.Shard, false, s, "b")
	check.Suspend(false)
	q.moving[s.ID] = []*Comparison{check}
	q.Enqueue(check)
	now := time.Duration(0)
	var asked []balance.Certify
	ask = func() {
		t.Helper()
		now += failGap
		c.Slave("a").Heard, c.Slave("b").Heard = now, now
		q.Step(now)
		if asked, _ = q.Out(); len(asked) != 1 || asked[0].Source != "a" || asked[0].Target != "b" {
			t.Fatalf("asked %+v; the target is slave %d", asked, b)
		}
	}
	answer = func(change func(*balance.Certified)) (list []Finding) {
		t.Helper()
		a := balance.Certified{Seq: asked[0].Seq, Source: &balance.Certificate{Clock: 1}, Target: &balance.Certificate{Clock: 1}, Truth: balance.Certificate{Clock: 2}}
		change(&a)
		q.Answered(now, a)
		q.Findings(now, func(f Finding) { list = append(list, f) })
		return list
	}
	c.Clock = 2
	return q, ask, answer
}

func differing(a *balance.Certified) { a.Target.Bins[3] = balance.Sum{Count: 1, Lo: 9} }

// TestAVerifierNeedsADifferenceTwice: a difference that is found once is checked again.
func TestAVerifierNeedsADifferenceTwice(t *testing.T) {
	_, ask, answer := comparing(t)
	ask()
	if list := answer(differing); slices.ContainsFunc(list, func(f Finding) bool { return f.Differs() || f.Done }) {
		t.Fatalf("found %+v at once", list)
	}
	ask()
	list := answer(differing)
	if len(list) != 1 || list[0].Target == "" || list[0].Source != "" || list[0].Who() != "b" {
		t.Errorf("found %+v", list)
	}
}

// TestAVerifierWaitsForChanges tests that an answer is judged only after all changes up to its
// clock have been seen, and that a change in between does not count as a difference in the
// copy.
func TestAVerifierWaitsForChanges(t *testing.T) {
	q, ask, answer := comparing(t)
	ask()
	ahead := func(a *balance.Certified) { differing(a); a.Truth.Clock = 3 }
	if list := answer(ahead); list != nil {
		t.Fatalf("found %+v before the change was seen", list)
	}
	for i := range 3 {
		var list []Finding
		q.Clock++
		q.Touch(balance.Change{Clock: q.Clock, Key: keyIn(q.moving, 3)})
		q.Findings(0, func(f Finding) { list = append(list, f) })
		if i > 0 {
			ask()
			list = answer(func(a *balance.Certified) { differing(a); a.Truth.Clock = q.Clock })
		}
		if len(list) != 1 || list[0].Differs() || list[0].Done {
			t.Fatalf("found %+v of what changes", list)
		}
	}
	ask()
	if list := answer(func(*balance.Certified) {}); len(list) != 1 || !list[0].Done {
		t.Errorf("found %+v of equal copies", list)
	}
}

// keyIn returns a key of the given bin in the only moving slice.
func keyIn(moves map[uint64][]*Comparison, bin int) balance.Key {
	for _, list := range moves {
		for k := list[0].All.Lo; ; k++ {
			if balance.Bin(k) == bin {
				return k
			}
		}
	}
	return 0
}

// TestAVerifierAsksNoMoreOfWhatIsOff: after a comparison is cancelled, slaves are asked
// nothing more about it.
func TestAVerifierAsksNoMoreOfWhatIsOff(t *testing.T) {
	q, _, _ := comparing(t)
	for _, list := range q.moving {
		list[0].off = true
	}
	q.Step(failGap)
	if asked, _ := q.Out(); asked != nil {
		t.Errorf("asked %+v", asked)
	}
}
