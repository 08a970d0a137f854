package mapper_test

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// newUnfilled returns a rig whose slaves have the first plan but no data yet.
func newUnfilled(t *testing.T, slaves ...string) *rig {
	t.Helper()
	r := newRig(t, 4, nil, slaves...)
	r.cfg.Epoch, r.state = 1, nil
	r.start()
	for _, n := range slaves {
		r.must(r.m.Join(r.now, balance.Joining{Name: n}))
	}
	r.carry()
	if r.m.Model() == nil || r.m.Model().Filled() {
		t.Fatalf("%+v", r.m.Model())
	}
	return r
}

// fills makes a slave report that it is being filled.
func (r *rig) fills(slave string) {
	r.t.Helper()
	t := r.table(slave)
	for i := range t.Slices {
		t.Slices[i].State, t.Slices[i].From = balance.Filling, 0
	}
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: slave, Incarnation: "1", Table: &t}))
	r.carry()
}

// TestTheFirstFillEnds: the first fill ends when each slave has everything that it is to
// serve, and not before, even if one of them is lost in between.
func TestTheFirstFillEnds(t *testing.T) {
	r := newUnfilled(t, "a", "b")
	r.fills("a")
	r.fills("b")
	r.ack("a")
	r.mute["b"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	if r.m.Model().Filled() {
		t.Fatal("filled although b was lost before it had all")
	}
	r.restart("a")
	r.pass(cluster.DefaultDeadAfter + time.Second)
	if r.m.Model().Filled() {
		t.Fatal("filled after a restart, although b was lost before it had all")
	}
	r.mute["b"] = false
	r.must(r.m.Join(r.now, balance.Joining{Name: "b"}))
	r.fills("b")
	r.ack("b")
	if !r.m.Model().Filled() {
		t.Fatalf("not filled: %v", r.events)
	}
	r.wantEvent("the first fill is over")
}

// TestTheFirstFillEndsOnce: a loss afterwards does not begin another first fill, and
// distributors and slaves are told of the end.
func TestTheFirstFillEndsOnce(t *testing.T) {
	r := newUnfilled(t, "a", "b")
	r.quanta = nil
	r.ackAll()
	if !r.m.Model().Filled() {
		t.Fatalf("not filled: %v", r.events)
	}
	ops := 0
	for _, q := range r.quanta {
		for _, o := range q.Ops {
			if ops++; o.Kind != balance.OpFilled {
				t.Errorf("%+v", o)
			}
		}
	}
	if ops != 1 || !r.table("a").Filled {
		t.Errorf("%d operations, a's table %+v", ops, r.table("a"))
	}
	view := r.m.Model().View()
	r.mute["a"], r.mute["b"] = true, true
	r.restart()
	r.pass(time.Minute)
	if !r.m.Model().Filled() || r.m.Model().View() != view {
		t.Error("forgotten by a restart without slaves")
	}
	r.must(r.m.Join(r.now, balance.Joining{Name: "b"})) // with an empty disk
	r.mute["b"] = false
	r.fills("b")
	if !r.m.Model().Filled() {
		t.Error("forgotten when a slave is filled again")
	}
}
