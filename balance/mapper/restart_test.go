package mapper_test

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// finishes lets the move of the first slice to b end.
func (r *rig) finishes() {
	r.t.Helper()
	r.ackAll()
	r.pass(cluster.DefaultMasterLease + cluster.DefaultLinger + time.Second)
	r.phase(0, balance.NoMove)
	if r.slice(0).Shard != 2 || r.m.Published().View() != 2 {
		r.t.Errorf("%+v", r.slice(0))
	}
}

// TestRestartBeforeTheSwitch: a balancer that is killed before the switch goes on where it
// was.
func TestRestartBeforeTheSwitch(t *testing.T) {
	t.Run("before the start is durable", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.slow = true
		r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
		r.slow = false
		r.hold = nil
		r.restart("a", "b")
		r.phase(0, balance.NoMove)
	})
	t.Run("while it is filled", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
		r.carry()
		old := r.table("a")
		r.cfg.Epoch++
		r.start()
		r.must(r.m.Join(r.now, balance.Joining{Name: "a", Table: old}))
		r.must(r.m.Join(r.now, balance.Joining{Name: "b", Table: balance.Table{View: 1}}))
		r.carry()
		if len(r.asked) != 0 {
			t.Fatal("asked before it is there")
		}
		r.ackAll()
		r.answer(nil)
		r.pass(time.Second)
		r.finishes()
	})
	t.Run("while it is certified", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.start0()
		r.restart("a", "b")
		r.answer(nil)
		r.pass(time.Second)
		r.finishes()
	})
	t.Run("before the switch is durable", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.start0()
		r.slow = true
		r.answer(nil)
		r.pass(time.Second)
		r.phase(0, balance.Copying)
		r.slow = false
		r.restart("a", "b")
		r.answer(nil)
		r.pass(time.Second)
		r.finishes()
	})
}

// TestRestartAfterTheSwitch: after the switch, masters may have either view.
func TestRestartAfterTheSwitch(t *testing.T) {
	t.Run("after the switch", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		tables := [2]balance.Table{r.table("a"), r.table("b")}
		r.switch0()
		r.cfg.Epoch++
		r.start()
		for i, n := range []string{"a", "b"} { // they have not heard of it
			r.must(r.m.Join(r.now, balance.Joining{Name: n, Table: tables[i]}))
		}
		r.carry()
		if p := r.m.Published(); p != nil {
			t.Fatalf("view %d is published before its slaves know it", p.View())
		}
		r.finishes()
	})
	t.Run("while masters have the old view", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.switch0()
		r.ackAll()
		r.restart("a", "b")
		r.pass(cluster.DefaultMasterLease - time.Second)
		r.phase(0, balance.Switched) // some masters may not have asked yet
		r.m.Master(r.now, "m1", 1, 0)
		r.pass(cluster.DefaultMasterLease - time.Second)
		r.phase(0, balance.Switched)
		r.m.Master(r.now, "m1", 2, 0)
		r.pass(time.Second)
		r.finishes()
	})
}

// TestRestartWithALostSlave: masters without a map get the newest one at once; it is
// published when every slave has it or is lost.
func TestRestartWithALostSlave(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b", "c")
	tables := map[string]balance.Table{"a": r.table("a"), "b": r.table("b")}
	if r.m.Unpublished() != nil {
		t.Fatal("there is a published model")
	}
	r.switch0() // view 2, of which no slave has heard
	r.mute["c"] = true
	r.cfg.Epoch++
	r.start()
	if m := r.m.Unpublished(); m == nil || m.View() != 2 || r.m.Published() != nil {
		t.Fatalf("unpublished %v, published %v", m, r.m.Published())
	}
	for _, n := range []string{"a", "b"} {
		r.must(r.m.Join(r.now, balance.Joining{Name: n, Table: tables[n], Site: balance.Site{Address: "elsewhere"}}))
	}
	r.carry()
	r.ack("a")
	r.ack("b")
	r.pass(cluster.DefaultDeadAfter - time.Second)
	if m := r.m.Unpublished(); m == nil || m.View() != 2 || m.Revision() != 2 || r.m.Published() != nil {
		t.Fatalf("unpublished %v, published %v; a and b have moved, c is awaited", m, r.m.Published())
	}
	r.pass(2 * time.Second)
	r.ackAll()
	if p := r.m.Published(); p == nil || p.View() != 2 || p.Revision() != 2 || r.m.Unpublished() != nil {
		t.Fatalf("unpublished %v, published %v; c is lost", r.m.Unpublished(), p)
	}
}

// TestTimeThatIsSetBack: a clock that is set back or forward ends nothing too early and
// delays nothing.
func TestTimeThatIsSetBack(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.pass(time.Minute)
	r.m.Master(r.now, "m1", 1, 0)
	r.switch0()
	r.ackAll()
	for _, jump := range []time.Duration{-time.Hour, 2 * time.Hour} {
		r.now += jump
		r.m.Tick(r.now)
		r.carry()
		if next := r.m.Next(); next < r.now-time.Second || next > r.now+time.Second {
			t.Errorf("at %v the next moment is %v", r.now, next)
		}
		r.pass(time.Second)
		r.phase(0, balance.Switched)
	}
	s := r.m.Status(r.now)
	if !s.Shards[0].Alive || !s.Shards[1].Alive || len(s.Masters) != 1 {
		t.Errorf("somebody is taken for lost: %+v", s)
	}
	r.m.Master(r.now, "m1", 2, 0)
	r.pass(cluster.DefaultLinger)
	r.phase(0, balance.NoMove)
}
