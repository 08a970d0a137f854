package balance_test

import (
	"testing"
	"time"

	"adshard/balance"
)

// newEntrance returns a rig in which the spare e is to replace d: it has got all slices,
// and the first question whether a copy of it is right is asked.
func newEntrance(t *testing.T) *rig {
	t.Helper()
	r := newReplicated(t, nil, "a", "b", "c", "d", "e")
	r.mute["d"] = true
	r.live(balance.DefaultEvacuateAfter - time.Second)
	r.pass(2 * time.Second)
	r.wantShard("shard-1", "c +e")
	r.ack("e")
	r.pass(time.Second)
	if len(r.asked) != 1 || r.asked[0].Target != "e" {
		t.Fatalf("asked %+v", r.asked)
	}
	return r
}

// TestASlaveThatRestartsIsComparedAgain, all of it: its disk may be another one.
func TestASlaveThatRestartsIsComparedAgain(t *testing.T) {
	r := newEntrance(t)
	first := r.asked[0]
	r.answer(nil)
	r.pass(time.Second)
	if len(r.asked) != 1 || r.asked[0].Lo == first.Lo {
		t.Fatalf("asked %+v after %+v", r.asked, first)
	}
	r.mute["e"] = true
	table, again := r.table("e"), false
	for range 20 {
		r.must(r.m.Report(r.now, balance.NodeReport{Name: "e", Incarnation: "2", Position: balance.Position{Clock: r.clock}, Table: &table}))
		r.pass(200 * time.Millisecond)
		for _, q := range r.asked {
			again = again || q.Lo == first.Lo
			if r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
	}
	r.wantShard("shard-1", "c e")
	if !again {
		t.Error("what was certified before it started again counts")
	}
}

// TestASlaveThatIsBehindIsNotAsked before it has applied the changes of the last seconds.
func TestASlaveThatIsBehindIsNotAsked(t *testing.T) {
	r := newEntrance(t)
	r.mute["e"] = true
	table, clock := r.table("e"), r.clock
	report := func(d time.Duration, clock func() uint64) {
		for end := r.now + d; r.now < end; {
			r.clock++
			r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(1)}})
			r.must(r.m.Report(r.now, balance.NodeReport{Name: "e", Incarnation: "1", Position: balance.Position{Clock: clock()}, Table: &table}))
			r.pass(200 * time.Millisecond)
		}
	}
	report(balance.DefaultDeadAfter+2*time.Second, func() uint64 { return clock })
	for range 20 {
		for _, q := range r.asked {
			if r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
		report(200*time.Millisecond, func() uint64 { return clock })
	}
	r.wantShard("shard-1", "c +e")
	report(time.Second, func() uint64 { return r.clock })
	for range 20 {
		for _, q := range r.asked {
			if r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
		report(200*time.Millisecond, func() uint64 { return r.clock })
	}
	r.wantShard("shard-1", "c e")
}

// TestTheOnlyReplicaStays in its set when it differs from the source of truth: what it
// does not serve is missing, and the rest is not.
func TestTheOnlyReplicaStays(t *testing.T) {
	r := newReplicated(t, func(c *balance.MapperConfig) { c.Scrub, c.ScrubShare = time.Minute, 1 }, "a", "b")
	r.mute["a"] = true
	for range 400 {
		if r.pass(time.Second); len(r.asked) == 1 && r.asked[0].Target == "b" {
			break
		}
		r.live(100 * time.Millisecond)
	}
	wrong := func(c *balance.Certified) { c.Target.Bins[3].Lo++ }
	r.answer(wrong)
	r.pass(time.Second)
	r.answer(wrong)
	r.pass(time.Second)
	if len(r.discards) == 0 || r.discards[0].Node != "b" {
		t.Fatalf("discards: %+v", r.discards)
	}
	r.wantShard("shard-0", "a b")
}
