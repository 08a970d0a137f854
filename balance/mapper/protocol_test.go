package mapper_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
	"adshard/balance/transfer"
)

// TestAMove follows a move from its start to its finish, with its messages.
func TestAMove(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.switch0()
	if p := r.m.Published(); p.View() != 1 {
		t.Fatalf("view %d is published before its slaves know it", p.View())
	}
	r.ackAll()
	if p := r.m.Published(); p.View() != 2 {
		t.Fatalf("view %d is published", p.View())
	}
	r.pass(cluster.DefaultLinger + 200*time.Millisecond)
	r.phase(0, balance.NoMove)
	s := r.m.Status(r.now)
	if s.View != 2 || s.Published != 2 || len(s.InFlight) != 0 || s.Moved != (transfer.Moved{Moves: 1, Items: 128, Bytes: 6400}) {
		t.Errorf("%+v", s)
	}
	if r.slice(0).Shard != 2 || r.m.Model().Least() != 2 {
		t.Errorf("%+v", r.slice(0))
	}
	for _, text := range []string{"begins to move from a to b: by command", "equals the database", "is served by b from view 2 on", "has left a for b: 128 ad groups"} {
		r.wantEvent(text)
	}
	if len(r.ill) != 0 {
		t.Errorf("troubles: %q", r.ill)
	}
}

// TestNothingIsSentBeforeItIsDurable: before a change is durable, no quantum and no view is
// sent.
func TestNothingIsSentBeforeItIsDurable(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.slow, r.quanta = true, nil
	before := r.m.Model()
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.pass(time.Second)
	for _, q := range r.quanta {
		if !q.Empty() {
			t.Fatalf("sent: %+v", q)
		}
	}
	if r.m.Model() != before {
		t.Fatal("the model changed")
	}
	r.save()
	r.carry()
	if q := r.quanta[len(r.quanta)-1]; len(q.Ops) != 1 || q.Ops[0].Kind != balance.OpStart {
		t.Fatalf("%+v", q)
	}
	r.phase(0, balance.Copying)
}

// TestASliceIsSwitchedOnlyWhenAllPartsMatch: parts that changed after the earliest of the
// clocks prove nothing, and are asked for again.
func TestASliceIsSwitchedOnlyWhenAllPartsMatch(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	k := rigKey(3) // in the first slice
	r.clock++
	r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: k}})
	r.answer(func(c *balance.Certified) {
		c.Target.Clock-- // the target has not applied the change yet and may differ there
		c.Target.Bins[balance.Bin(k)].Lo++
	})
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 1 || r.asked[0].Wanted != 1<<balance.Bin(k) {
		t.Fatalf("asked: %+v", r.asked)
	}
	// The next answer is about changes that the mapper has not seen yet.
	r.clock += 5
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 0 {
		t.Fatalf("asked before the answer could be judged: %+v", r.asked)
	}
	r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(190)}})
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}

// TestAViewIsPublishedWhenAllSlavesHaveIt: a view is published when all slaves that are alive
// have it.
func TestAViewIsPublishedWhenAllSlavesHaveIt(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b", "c")
	r.switch0()
	r.ack("a")
	r.ack("b")
	r.pass(time.Second)
	if v := r.m.Published().View(); v != 1 {
		t.Fatalf("view %d is published, but c has it not", v)
	}
	if w := r.m.Status(r.now).WaitingFor; len(w) != 1 || !strings.Contains(w[0], "slave c to acknowledge view 2") {
		t.Errorf("%q", w)
	}
	r.mute["c"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	if v := r.m.Published().View(); v != 2 {
		t.Fatalf("view %d is published although c is lost", v)
	}
}

// TestAMoveIsFinishedWhenNobodyNeedsTheOldView: a move is finished when every master has the
// new view or its lease has expired, and the longest query has ended.
func TestAMoveIsFinishedWhenNobodyNeedsTheOldView(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	for _, m := range []string{"m1", "m2"} {
		r.m.Master(r.now, m, 1, 0)
	}
	r.switch0()
	r.ackAll()
	r.m.Master(r.now, "m1", 2, 0)
	r.m.Master(r.now, "m2", 2, 0)
	r.pass(cluster.DefaultLinger - 200*time.Millisecond)
	r.phase(0, balance.Switched)  // a query may still be running
	r.m.Master(r.now, "m2", 1, 0) // it has restarted with an older map
	r.pass(cluster.DefaultLinger)
	r.phase(0, balance.Switched)
	if w := r.m.Status(r.now).WaitingFor; len(w) != 1 || !strings.Contains(w[0], "master m2") {
		t.Errorf("%q", w)
	}
	r.pass(cluster.DefaultMasterLease) // now m2 is cut off
	r.phase(0, balance.NoMove)
}

// TestMovesThatAreGivenUp: a move that is given up before its switch leaves the slice where it
// is.
func TestMovesThatAreGivenUp(t *testing.T) {
	differs := func(change func(*balance.Certified)) func(*rig) {
		return func(r *rig) {
			r.answer(change)
			r.pass(time.Second)
			r.phase(0, balance.Copying) // it is read once more
			r.answer(change)
			r.pass(time.Second)
		}
	}
	for name, c := range map[string]struct {
		do   func(*rig)
		text string
	}{
		"the copy differs":   {differs(func(c *balance.Certified) { c.Target.Bins[5].Lo++ }), "searches read on b differ"},
		"the source differs": {differs(func(c *balance.Certified) { c.Source.Bins[5].Count++ }), "searches read on a differ"},
		"both differ":        {differs(func(c *balance.Certified) { c.Truth.Bins[5].Hi++ }), "searches read on a and b differ"},
		"the target is lost": {func(r *rig) { r.mute["b"] = true; r.pass(cluster.DefaultDeadAfter + time.Second) }, "shard b is lost"},
		"the target is in trouble": {func(r *rig) {
			r.mute["b"] = true
			for range 15 {
				r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Trouble: "disk full"}))
				r.pass(time.Second)
			}
		}, "disk full"},
		"nobody certifies": {func(r *rig) {
			for range 90 {
				if len(r.asked) > 0 {
					r.answer(func(c *balance.Certified) { c.Failed = fmt.Errorf("no way") })
				}
				r.pass(time.Second)
			}
		}, "no way"},
		"nobody answers":        {func(r *rig) { r.pass(2 * cluster.DefaultStall) }, "no answer"},
		"the target is drained": {func(r *rig) { r.must(r.m.Drain(r.now, "b")); r.carry(); r.pass(time.Second) }, "shard b is draining"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 4, nil, "a", "b", "c")
			r.start0()
			generation := r.slice(0).Generation
			c.do(r)
			r.phase(0, balance.NoMove)
			if s := r.slice(0); s.Shard != 1 || s.Generation != generation+1 {
				t.Errorf("%+v", s)
			}
			r.wantTrouble(c.text)
			r.wantEvent("stays on a, its move to b is cancelled")
			if s := r.m.Status(r.now); s.Moved.Cancelled == 0 || s.Moved.Moves != 0 {
				t.Errorf("%+v", s.Moved)
			}
		})
	}
}

// TestAMoveThatIsNotFilledStalls: a move whose slice is not filled stalls, however often its
// target reports.
func TestAMoveThatIsNotFilledStalls(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.pass(cluster.DefaultStall - time.Second)
	r.phase(0, balance.Copying)
	for i := range 60 { // now it is being filled
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Position: balance.Position{Offset: uint64(i + 1)}}))
		r.pass(time.Second)
	}
	r.phase(0, balance.Copying)
	r.mute["b"] = true
	for range 70 {
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Position: balance.Position{Offset: 60, Clock: uint64(r.now)}}))
		r.pass(time.Second)
	}
	r.phase(0, balance.NoMove)
	r.wantTrouble("shard b has not received all items")
}

// TestATargetThatReturnsIsCertifiedAnew: a target that returns is certified again, because its
// data may be gone.
func TestATargetThatReturnsIsCertifiedAnew(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	r.must(r.m.Join(r.now, balance.Joining{Name: "b"})) // with an empty disk
	r.carry()
	r.answer(nil) // answers the earlier question
	r.pass(2 * time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 0 {
		t.Fatalf("asked for what is not there: %+v", r.asked)
	}
	r.ackAll()
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}

// TestASourceThatIsLost: a lost source is not asked, and nothing waits for it.
func TestASourceThatIsLost(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.mute["a"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	r.start0()
	if len(r.asked) != 1 || r.asked[0].Source != "" || r.asked[0].Target != "b" {
		t.Fatalf("%+v", r.asked)
	}
	r.answer(nil)
	r.pass(time.Second)
	r.ackAll()
	r.pass(cluster.DefaultLinger + time.Second)
	r.phase(0, balance.NoMove)
	if r.slice(0).Shard != 2 {
		t.Errorf("%+v", r.slice(0))
	}
}

// TestMovesThatBecomeReadyTogetherShareAView: moves that become ready together are switched in
// one view.
func TestMovesThatBecomeReadyTogetherShareAView(t *testing.T) {
	r := newRig(t, 6, nil, "a", "b")
	for _, i := range []int{0, 2, 4} {
		r.must(r.m.Move(r.now, r.slice(i).ID, "b"))
	}
	r.carry()
	r.ackAll()
	r.slow = true
	questions := r.asked
	for _, q := range questions {
		r.asked = []balance.Certify{q}
		r.answer(nil)
	}
	r.save()
	r.slow = false
	r.pass(time.Second)
	view := uint64(0)
	for _, i := range []int{2, 4} { // the first may have been switched before
		r.phase(i, balance.Switched)
		if view != 0 && r.slice(i).From != view {
			t.Errorf("views %d and %d", view, r.slice(i).From)
		}
		view = r.slice(i).From
	}
}

// TestATargetThatReturnsBeforeTheSwitch: a target that returns before the switch is certified
// again, even if it says that it still has everything.
func TestATargetThatReturnsBeforeTheSwitch(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	r.slow = true
	r.must(r.m.Move(r.now, r.slice(2).ID, "b")) // while it is being saved, nothing else is staged
	r.answer(nil)
	r.must(r.m.Join(r.now, balance.Joining{Name: "b", Table: r.table("b")}))
	r.slow = false
	r.save()
	r.carry()
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}
