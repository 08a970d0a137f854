package mapper_test

import (
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// killed lets a slave be dead for less time than it takes until this is noticed.
func (r *rig) killed(name string) {
	r.t.Helper()
	r.mute[name] = true
	r.pass(cluster.DefaultDeadAfter / 2)
}

// holds makes a slave report that it holds everything except slices that are still arriving.
func (r *rig) holds(name string, without ...uint64) {
	r.t.Helper()
	t := r.table(name)
	t.Slices = append([]balance.Held(nil), t.Slices...)
	for i := range t.Slices {
		for _, id := range without {
			if t.Slices[i].ID == id {
				t.Slices[i].State, t.Slices[i].From = balance.Filling, 0
			}
		}
	}
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: name, Incarnation: "1", Position: balance.Position{Clock: r.clock, Offset: 1}, Table: &t}))
	r.carry()
}

// answered answers all questions with equal copies.
func (r *rig) answered() {
	r.t.Helper()
	for len(r.asked) > 0 {
		q := r.asked[0]
		r.asked = r.asked[1:]
		r.answerTo(q, nil)
	}
}

// TestNoneIsDrainedBesideADeadOne: a slave that was killed counts as alive for a while; the
// other slave of its shard must stay.
func TestNoneIsDrainedBesideADeadOne(t *testing.T) {
	r := newReplicated(t, nil, "a", "b")
	r.killed("a")
	if err := r.m.Drain(r.now, "b"); err == nil || !strings.Contains(err.Error(), "no other replica") {
		t.Errorf("%v", err)
	}
	r.carry()
	r.wantShard("shard-0", "a b")
	r.mute["a"] = false
	r.pass(time.Second)
	r.must(r.m.Drain(r.now, "b"))
	r.carry()
	r.wantShard("shard-0", "a")
}

// TestTwoAreNotDrainedAtOnce: each of two drains finds that the other slave stays, while
// neither has been executed.
func TestTwoAreNotDrainedAtOnce(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.slow = true
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.must(r.m.Drain(r.now, "a"))
	r.must(r.m.Drain(r.now, "b"))
	r.slow = false
	r.save()
	r.carry()
	r.wantShard("shard-0", "b")
	r.wantTrouble("no other replica")
}

// TestADrainBesideASwitch: the only slave that will be certified is not drained together with
// the switch by which the other one leaves.
func TestADrainBesideASwitch(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.pass(time.Second)
	r.ack("c")
	r.answered()
	r.pass(cluster.DefaultStall + 2*time.Second)
	r.phase(0, balance.Copying) // so far, d is not late
	r.slow = true
	r.must(r.m.Move(r.now, r.slice(2).ID, "shard-1"))
	r.carry()
	r.pass(5 * time.Second)
	r.must(r.m.Drain(r.now, "c"))
	r.slow = false
	r.save()
	r.carry()
	r.wantShard("shard-1", "d")
	r.phase(0, balance.Copying)
}

// TestTwoSwitchesLeaveOneReplica tests that two slices that come to a shard, each complete on a
// different slave, do not make both slaves leave the set.
func TestTwoSwitchesLeaveOneReplica(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	one, two := r.slice(0).ID, r.slice(2).ID
	r.must(r.m.Move(r.now, one, "shard-1"))
	r.must(r.m.Move(r.now, two, "shard-1"))
	r.carry()
	r.pass(time.Second)
	r.holds("c", two)
	r.holds("d", one)
	r.answered()
	for range 10 * (cluster.DefaultStall / time.Second) / 5 {
		r.pass(time.Second)
		if got := r.shard("shard-1"); got == "+c +d" {
			t.Fatalf("nobody of shard-1 is asked; %s", strings.Join(r.events, "\n"))
		}
	}
	if r.slice(0).Move.Phase == balance.Copying && r.slice(2).Move.Phase == balance.Copying {
		t.Errorf("nothing was switched: %+v; %s", r.m.Model().Slices(), strings.Join(r.events, "\n"))
	}
}

// TestNoSwitchToADeadOne: a slave that is late for a switch stays if the certified one was
// killed a moment ago.
func TestNoSwitchToADeadOne(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.pass(time.Second)
	r.ack("c")
	r.answered()
	r.pass(cluster.DefaultStall - 2*time.Second)
	r.killed("c")
	r.killed("c")
	r.wantShard("shard-1", "c d")
	r.phase(0, balance.Copying)
	r.ack("d")
	r.answered()
	r.pass(time.Second)
	r.phase(0, balance.Switched)
	r.wantShard("shard-1", "+c d")
}

// TestAHangingReplicaStaysBesideADeadOne: a hanging replica still answers queries of the views
// that it has.
func TestAHangingReplicaStaysBesideADeadOne(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	for _, n := range []string{"c", "d"} {
		r.ack(n)
		r.answered()
	}
	r.pass(200 * time.Millisecond)
	r.phase(0, balance.Switched)
	for _, n := range []string{"b", "c", "d"} {
		r.ack(n)
	}
	r.pass(cluster.DefaultDeadAfter / 2) // a reports but applies nothing
	r.killed("b")
	r.pass(time.Second)
	r.wantShard("shard-0", "a b")
}

// TestOneThatReportsIsReliedOn: whether a slave is relied on depends on its reports, however
// soon it counts as lost; otherwise nothing would be done for most of the time between two
// reports.
func TestOneThatReportsIsReliedOn(t *testing.T) {
	r := newReplicated(t, func(c *cluster.Config) { c.DeadAfter = cluster.DefaultReport }, "a", "b")
	r.mute["a"] = true
	r.pass(cluster.DefaultReport * 9 / 10)
	r.must(r.m.Drain(r.now, "b"))
	r.carry()
	r.wantShard("shard-0", "a")
}

// TestFewerReplicasThanLive: no slave is released if the other one was killed a moment ago.
func TestFewerReplicasThanLive(t *testing.T) {
	r := newReplicated(t, nil, "a", "b")
	r.killed("a")
	r.must(r.m.SetReplicas(r.now, 1))
	r.pass(time.Minute)
	r.wantShard("shard-0", "a b")
	r.mute["a"] = false
	r.live(2 * time.Second)
	r.wantShard("shard-0", "a")
}
