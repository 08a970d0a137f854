package mapper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// newPlaced returns a rig with replicated slaves that have addresses and instances.
func newPlaced(t *testing.T, slaves ...string) *rig {
	t.Helper()
	r := newReplicated(t, nil, slaves...)
	for i, name := range slaves {
		r.joinWith(balance.Joining{Name: name, Table: r.table(name)}, uint64(i+1))
	}
	r.live(time.Second)
	return r
}

// joinWith makes a slave join at its address.
func (r *rig) joinWith(j balance.Joining, instance uint64) {
	r.t.Helper()
	j.Site = balance.Site{Address: j.Name + ":1", Instance: instance}
	j.Position.Clock = r.clock
	r.must(r.m.Join(r.now, j))
	r.carry()
}

// siblings returns the slaves that a slave is to copy from.
func (r *rig) siblings(slave string) string {
	_, list := r.m.CopyFrom(r.now, slave)
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

func (r *rig) wantSiblings(slave, want string) {
	r.t.Helper()
	if got := r.siblings(slave); got != want {
		r.t.Fatalf("%s is to copy %q, want %q; %s", slave, got, want, strings.Join(r.events, "\n"))
	}
}

// fullOf returns the report of a slave that holds everything that it should, with nothing
// served yet.
func (r *rig) fullOf(slave string) balance.Table {
	t := r.table(slave)
	t.Slices = slices.Clone(t.Slices)
	for i := range t.Slices {
		t.Slices[i].From, t.Slices[i].Until = 0, 0
	}
	return t
}

// TestAnEmptiedSlaveIsReplacedByACopy: an emptied slave leaves its set, copies its sibling, and
// is asked again without a comparison; the revision tells a query which instance is meant.
func TestAnEmptiedSlaveIsReplacedByACopy(t *testing.T) {
	r := newPlaced(t, "a", "b", "c", "d")
	revision := r.m.Model().Revision()
	r.joinWith(balance.Joining{Name: "b"}, 22)
	r.wantSiblings("b", "a")
	if s, _ := r.m.Model().Slave("b"); s.Instance != 22 || r.m.Model().Revision() <= revision {
		t.Fatalf("%+v in revision %d", s, r.m.Model().Revision())
	}
	r.pass(time.Second)
	r.wantShard("shard-0", "a +b")
	r.wantSiblings("b", "a")
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Copying: &cluster.CopyState{Source: "a", Bytes: 1 << 20, Total: 3 << 20, PerSecond: 1 << 20}}))
	i := slices.IndexFunc(r.m.Status(r.now).Slaves, func(s mapper.SlaveStatus) bool { return s.Name == "b" })
	if s := r.m.Status(r.now).Slaves[i]; s.Copying == nil || s.Copying.Source != "a" {
		t.Errorf("%+v", s)
	} else if left, known := s.Copying.Left(); !known || left != 2*time.Second {
		t.Errorf("%v left, %v", left, known)
	}
	r.joinWith(balance.Joining{Name: "b", Table: r.fullOf("b"), Copied: &balance.Copied{Source: "a", Instance: 1}}, 22)
	r.wantSiblings("b", "")
	r.ack("b")
	r.pass(time.Second)
	r.wantShard("shard-0", "a b")
	if len(r.asked) > 0 {
		t.Errorf("it was compared: %+v", r.asked)
	}
}

// TestASpareCopies: spares copy what their new siblings have, each beginning with a different
// sibling.
func TestASpareCopies(t *testing.T) {
	r := newPlaced(t, "a", "b")
	r.joinWith(balance.Joining{Name: "x"}, 9)
	r.joinWith(balance.Joining{Name: "aa"}, 8)
	r.must(r.m.SetReplicas(r.now, 4))
	r.pass(2 * time.Second)
	r.wantShard("shard-0", "a +aa b +x")
	r.wantSiblings("x", "a b")
	r.wantSiblings("aa", "b a")
	r.mute["a"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	r.wantSiblings("x", "b")
	r.mute["b"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	r.wantSiblings("x", "")
	for _, name := range []string{"a", "b", "nobody"} {
		r.wantSiblings(name, "")
	}
}

// TestWhatIsComparedOfACopy: everything in a copy is compared that the sibling did not serve
// all the time.
func TestWhatIsComparedOfACopy(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(r *rig)
		copied    balance.Copied
	}{
		"it was not named":          {func(*rig) {}, balance.Copied{Source: "c", Instance: 3}},
		"nobody is called so":       {func(*rig) {}, balance.Copied{Source: "nobody"}},
		"it has another instance":   {func(*rig) {}, balance.Copied{Source: "a", Instance: 7}},
		"the balancer started over": {func(r *rig) { r.restart("a", "b", "c", "d"); r.live(time.Second) }, balance.Copied{Source: "a", Instance: 1}},
		"it discarded a slice": {func(r *rig) {
			lacks := r.table("a")
			lacks.Slices = lacks.Slices[1:]
			r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "a", Incarnation: "1", Table: &lacks}))
			r.ack("a")
		}, balance.Copied{Source: "a", Instance: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPlaced(t, "a", "b", "c", "d")
			r.joinWith(balance.Joining{Name: "b"}, 2)
			r.wantSiblings("b", "a")
			r.pass(time.Second)
			r.asked = nil
			if r.mute["b"] = true; c.meanwhile != nil {
				c.meanwhile(r)
			}
			r.mute["b"] = false
			r.asked = nil
			r.joinWith(balance.Joining{Name: "b", Table: r.fullOf("b"), Copied: &c.copied}, 2)
			r.ack("b")
			r.pass(time.Second)
			if s, _ := r.m.Model().Slave("b"); s.In || !slices.ContainsFunc(r.asked, func(q balance.Certify) bool { return q.Target == "b" }) {
				t.Fatalf("%+v; asked %+v, %s", s, r.asked, strings.Join(r.events, "\n"))
			}
			r.live(5 * time.Second)
			if s, _ := r.m.Model().Slave("b"); !s.In {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestTheSourceOfACopyDiffers: a source that differs is no longer named, and what was copied
// from it is compared.
func TestTheSourceOfACopyDiffers(t *testing.T) {
	r := newReplicated(t, func(c *cluster.Config) { c.Scrub = time.Minute }, "a", "b", "c")
	for i, name := range []string{"a", "b", "c"} {
		r.joinWith(balance.Joining{Name: name, Table: r.table(name)}, uint64(i+1))
	}
	r.must(r.m.SetReplicas(r.now, 3))
	r.live(2 * time.Second)
	r.wantShard("shard-0", "a b c")
	r.joinWith(balance.Joining{Name: "b"}, 22)
	r.wantSiblings("b", "c a")
	for range 600 { // the scrub finds that c differs
		r.pass(200 * time.Millisecond)
		for _, q := range r.asked {
			r.answerTo(q, func(a *balance.Certified) {
				if q.Target == "c" {
					a.Target.Bins[3].Lo++
				}
			})
		}
		r.asked = nil
		if len(r.discards) > 0 {
			break
		}
	}
	r.wantSiblings("b", "a")
	r.joinWith(balance.Joining{Name: "b", Table: r.fullOf("b"), Copied: &balance.Copied{Source: "c", Instance: 3}}, 22)
	r.ack("b")
	r.pass(time.Second)
	r.wantEvent("no longer a replica of its shard")
}

// TestWhoHoldsMostIsNotCopied: a slave does not copy if it lacks less than half of the weight,
// or if node data have filled it beyond that.
func TestWhoHoldsMostIsNotCopied(t *testing.T) {
	r := newPlaced(t, "a", "b")
	r.joinWith(balance.Joining{Name: "x"}, 9)
	r.must(r.m.SetReplicas(r.now, 3))
	r.pass(2 * time.Second)
	r.wantShard("shard-0", "a b +x")
	report := func(held ...balance.Held) {
		t.Helper()
		table := r.m.Model().TableOf("x")
		table.Slices = held
		offset := uint64(0)
		for _, h := range held {
			if h.State == balance.Filling {
				offset = uint64(rigKey(120))
			}
		}
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "x", Incarnation: "1", Table: &table, Position: balance.Position{Clock: r.clock, Offset: offset}}))
		r.mute["x"] = true
		r.pass(200 * time.Millisecond)
	}
	all := r.fullOf("x").Slices
	report(all[0])
	r.wantSiblings("x", "a b")
	r.mute["x"] = true
	r.pass(6 * time.Second) // it is examined again
	filling := slices.Clone(all)
	for i := range filling {
		filling[i].State = balance.Filling
	}
	report(filling...)
	r.wantSiblings("x", "")
}

// TestTwoThatLostAll: two slaves that lost everything are filled by node data and stay in their
// set, because no replica has more.
func TestTwoThatLostAll(t *testing.T) {
	r := newPlaced(t, "a", "b")
	r.joinWith(balance.Joining{Name: "a"}, 11)
	r.pass(400 * time.Millisecond)
	r.joinWith(balance.Joining{Name: "b"}, 12)
	r.pass(time.Second)
	r.wantSiblings("a", "")
	r.wantSiblings("b", "")
	r.live(5 * time.Second)
	r.wantShard("shard-0", "a b")
}
