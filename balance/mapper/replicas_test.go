package mapper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
	"adshard/balance/maps"
)

// newReplicated returns a rig with two slaves per shard.
func newReplicated(t *testing.T, change func(*cluster.Config), slaves ...string) *rig {
	t.Helper()
	return newRig(t, 4, func(c *cluster.Config) {
		c.Replicas = 2
		if change != nil {
			change(c)
		}
	}, slaves...)
}

// shard returns the names of the slaves of a shard's set, and those that are being filled with
// a + before them.
func (r *rig) shard(name string) string {
	r.t.Helper()
	sh, ok := r.m.Model().Named(name)
	if !ok {
		return "none"
	}
	var list []string
	for _, s := range r.m.Model().Replicas(sh.ID) {
		if s.In {
			list = append(list, s.Name)
		} else {
			list = append(list, "+"+s.Name)
		}
	}
	return strings.Join(list, " ")
}

func (r *rig) wantShard(name, slaves string) {
	r.t.Helper()
	if got := r.shard(name); got != slaves {
		r.t.Fatalf("%s has %q, want %q; %s", name, got, slaves, strings.Join(r.events, "\n"))
	}
}

// spares returns the names of the slaves without a shard.
func (r *rig) spares() (names []string) {
	for _, s := range r.m.Model().Slaves() {
		if s.Shard == 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// live lets time pass: slaves that are not mute apply everything at once, and all questions are
// answered with equal copies. A master has the newest map.
func (r *rig) live(d time.Duration) {
	r.t.Helper()
	for end := r.now + d; r.now < end; {
		r.ackAll()
		for len(r.asked) > 0 {
			q := r.asked[0]
			r.asked = r.asked[1:]
			if !r.mute[q.Target] && r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		if p := r.m.Published(); p != nil {
			r.must(r.m.Master(r.now, "m", p.View(), p.Revision()))
		}
		r.pass(100 * time.Millisecond)
	}
}

func (r *rig) join(name, zone string) {
	r.t.Helper()
	r.must(r.m.Join(r.now, balance.Joining{Name: name, Site: balance.Site{Zone: zone}}))
	r.carry()
}

// TestTheFirstPlanMakesShards: the first plan makes shards with as many slaves as there are to
// be replicas; the remaining slaves are spares.
func TestTheFirstPlanMakesShards(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d", "e")
	r.wantShard("shard-0", "a b")
	r.wantShard("shard-1", "c d")
	if got := r.spares(); !slices.Equal(got, []string{"e"}) {
		t.Errorf("spares: %q", got)
	}
	m := r.m.Model()
	a, b, e := m.TableOf("a"), m.TableOf("b"), m.TableOf("e")
	if !a.Equal(b) || a.Shard != "shard-0" || len(a.Slices) != 2 {
		t.Errorf("%+v and %+v", a, b)
	}
	if !e.Spare || len(e.Slices) != 0 {
		t.Errorf("a spare has %+v", e)
	}
}

// TestZones: no shard has two slaves in one zone, neither at the start nor when a lost one is
// replaced.
func TestZones(t *testing.T) {
	slaves := []balance.Slave{{Name: "a1", Site: balance.Site{Zone: "a"}}, {Name: "a2", Site: balance.Site{Zone: "a"}}, {Name: "a3", Site: balance.Site{Zone: "a"}}, {Name: "b1", Site: balance.Site{Zone: "b"}}, {Name: "c1", Site: balance.Site{Zone: "c"}}, {Name: "c2", Site: balance.Site{Zone: "c"}}}
	m, err := balance.Compose(slaves, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Shards()) != 3 {
		t.Errorf("%d shards of %+v", len(m.Shards()), m.Slaves())
	}
	for _, sh := range m.Shards() {
		set := m.Set(sh.ID)
		if len(set) != 2 || set[0].Zone == set[1].Zone {
			t.Errorf("shard %s: %+v", sh.Name, set)
		}
	}

	r := newReplicated(t, nil, "a", "b")
	r.join("a", "left")
	r.join("b", "right")
	r.join("x", "right")
	r.live(time.Second)
	r.mute["a"] = true
	r.live(cluster.DefaultEvacuateAfter + time.Second)
	r.wantShard("shard-0", "a b")
	r.wantTrouble("each spare is in a zone of one of its replicas")
	r.join("y", "left")
	r.live(2 * time.Second)
	r.wantShard("shard-0", "b y")
}

// TestALostReplicaIsReplaced: after a while, a lost replica is replaced by a spare. The spare
// is asked once it has all slices and each is certified, and no view changes.
func TestALostReplicaIsReplaced(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d", "e")
	view := r.m.Model().View()
	r.mute["d"] = true
	r.live(cluster.DefaultEvacuateAfter - time.Second)
	r.wantShard("shard-1", "c d")
	r.pass(2 * time.Second) // nothing is applied, and nothing is certified
	r.wantShard("shard-1", "c +e")
	unserved := r.table("e")
	unserved.Slices = slices.Clone(unserved.Slices)
	unserved.Slices[0].From = 0
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "e", Incarnation: "1", Table: &unserved}))
	for range 10 {
		r.pass(time.Second)
		for _, q := range r.asked {
			r.answerTo(q, nil)
		}
		r.asked = nil
	}
	r.wantShard("shard-1", "c +e")
	r.ack("e")
	r.pass(time.Second)
	r.wantShard("shard-1", "c +e")
	if len(r.asked) != 1 || r.asked[0].Target != "e" || r.asked[0].Source != "" {
		t.Fatalf("asked %+v", r.asked)
	}
	before := r.m.Published().Revision()
	r.live(2 * time.Second)
	r.wantShard("shard-1", "c e")
	if m := r.m.Published(); m.View() != view || m.Revision() <= before {
		t.Errorf("view %d revision %d after view %d revision %d", m.View(), m.Revision(), view, before)
	}
	if have := (maps.Version{Epoch: 1, View: view, Revision: before, Filled: true}); r.m.MapFor(have) == nil {
		t.Error("masters do not get the new revision")
	}
	r.mute["d"] = false
	r.live(time.Second)
	if s, _ := r.m.Model().Slave("d"); s.Shard != 0 {
		t.Errorf("the slave that was replaced: %+v", s)
	}
}

// TestTheWorstOffShardFirst: a spare goes first to the shard with the fewest living slaves.
func TestTheWorstOffShardFirst(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.mute["b"] = true
	r.live(time.Minute)
	r.mute["c"], r.mute["d"] = true, true
	r.live(cluster.DefaultEvacuateAfter)
	r.pass(2 * time.Second)
	r.join("x", "")
	r.pass(time.Second)
	r.wantShard("shard-1", "c d +x")
	r.wantShard("shard-0", "a b")
}

// TestASlaveThatLeftKeepsItsData tests that a slave that left a shard keeps its data until each
// master has the revision or has lost its lease, and the longest query has ended.
func TestASlaveThatLeftKeepsItsData(t *testing.T) {
	for _, known := range []bool{true, false} {
		r := newReplicated(t, nil, "a", "b")
		r.must(r.m.Master(r.now, "m", 1, 0))
		r.must(r.m.Drain(r.now, "b"))
		r.carry()
		r.wantShard("shard-0", "a")
		s, _ := r.m.Model().Slave("b")
		if !s.Drained || s.Left == 0 || !r.m.Model().TableOf("b").Spare {
			t.Fatalf("%+v", s)
		}
		left := func() bool { s, _ := r.m.Model().Slave("b"); return s.Left != 0 }
		r.pass(cluster.DefaultLinger + time.Second)
		r.must(r.m.Master(r.now, "m", 1, 0))
		if !left() {
			t.Fatal("it may delete what a master asks for")
		}
		if known {
			r.must(r.m.Master(r.now, "m", 1, s.Left))
		} else {
			r.pass(cluster.DefaultMasterLease)
		}
		r.pass(cluster.DefaultLinger - time.Second)
		if !left() {
			t.Fatal("it may delete what a query under way needs")
		}
		r.pass(2 * time.Second)
		if left() {
			t.Error("it keeps its data for ever")
		}
		r.must(r.m.Restore(r.now, "b"))
		r.live(3 * time.Second)
		r.wantShard("shard-0", "a b")
	}
}

// TestAMoveWaitsForAllReplicas: a move waits for all living replicas, each of which is
// certified separately.
func TestAMoveWaitsForAllReplicas(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.ack("c")
	r.answer(nil)
	r.pass(3 * time.Second)
	r.phase(0, balance.Copying)
	r.ack("d")
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
	r.wantShard("shard-1", "c d")
	r.live(cluster.DefaultLinger + 2*time.Second)
	r.phase(0, balance.NoMove)
}

// TestALateReplicaLeavesItsSet: a late replica leaves its set with the switch and joins again;
// so does a lost one.
func TestALateReplicaLeavesItsSet(t *testing.T) {
	for _, lost := range []bool{true, false} {
		r := newReplicated(t, nil, "a", "b", "c", "d")
		r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
		r.carry()
		r.mute["d"] = lost
		r.pass(time.Second)
		r.ack("c")
		r.answer(nil)
		r.pass(cluster.DefaultDeadAfter + time.Second)
		if !lost {
			r.phase(0, balance.Copying)
			r.pass(cluster.DefaultStall + time.Second)
		}
		r.phase(0, balance.Switched)
		r.wantShard("shard-1", "c +d")
		r.mute["d"] = false
		r.live(2 * time.Second)
		r.wantShard("shard-1", "c d")
	}
}

// TestTwoAreCertifiedBeforeTheThirdIsLate: with three replicas, a slow one leaves early.
func TestTwoAreCertifiedBeforeTheThirdIsLate(t *testing.T) {
	r := newReplicated(t, func(c *cluster.Config) { c.Replicas = 3 }, "a", "b", "c", "d", "e", "f")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.ack("d")
	r.answer(nil)
	r.pass(cluster.DefaultDeadAfter + 2*time.Second)
	r.phase(0, balance.Copying)
	r.ack("e")
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
	r.wantShard("shard-1", "d e +f")
}

// TestACopyThatDiffersIsRefilled tests that a copy that differs is filled again while the
// others continue.
func TestACopyThatDiffersIsRefilled(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.ack("c")
	wrong := func(c *balance.Certified) { c.Target.Bins[3].Lo++ }
	r.answer(wrong)
	r.pass(time.Second)
	r.answer(wrong)
	r.phase(0, balance.Copying)
	if len(r.discards) == 0 || r.discards[0].Slave != "c" {
		t.Fatalf("discards: %+v", r.discards)
	}
	r.ack("d")
	r.pass(200 * time.Millisecond)
	r.phase(0, balance.Copying)
}

// scrubFindsDamage runs the scrub until it finds that a slave's copy differs.
func (r *rig) scrubFindsDamage(name string) {
	r.t.Helper()
	for range 400 {
		if r.pass(time.Second); len(r.asked) == 1 && r.asked[0].Target == name {
			break
		}
		r.live(100 * time.Millisecond)
	}
	wrong := func(c *balance.Certified) { c.Target.Bins[3].Lo++ }
	r.answer(wrong)
	r.pass(time.Second)
	r.answer(wrong)
	r.pass(time.Second)
}

// TestADamagedReplicaLeaves: a damaged replica leaves its set, because the other one answers,
// and joins again.
func TestADamagedReplicaLeaves(t *testing.T) {
	r := newReplicated(t, func(c *cluster.Config) { c.Scrub, c.ScrubShare = time.Minute, 1 }, "a", "b")
	r.scrubFindsDamage("b")
	r.wantShard("shard-0", "a +b")
	broken := r.table("b")
	broken.Slices = broken.Slices[1:]
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Table: &broken}))
	r.pass(time.Second)
	r.wantShard("shard-0", "a +b")
	r.live(5 * time.Second)
	r.wantShard("shard-0", "a b")
}

// TestAHangingReplicaHoldsUpNoView: a hanging replica delays a view for no longer than a lost
// one would.
func TestAHangingReplicaHoldsUpNoView(t *testing.T) {
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	for _, n := range []string{"c", "d"} {
		r.ack(n)
		r.answer(nil)
	}
	r.pass(200 * time.Millisecond)
	r.phase(0, balance.Switched)
	for _, n := range []string{"b", "c", "d"} {
		r.ack(n)
	}
	r.pass(cluster.DefaultDeadAfter - time.Second) // a reports but applies nothing
	if v := r.m.Published().View(); v != 1 {
		t.Fatalf("view %d is published", v)
	}
	r.pass(2 * time.Second)
	r.wantShard("shard-0", "+a b")
	if v := r.m.Published().View(); v != 2 {
		t.Fatalf("view %d is published", v)
	}
}

// TestReplicasChange: the number of replicas changes while slaves serve: one, two, one again.
func TestReplicasChange(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b", "c", "d")
	r.must(r.m.SetReplicas(r.now, 2))
	r.live(4 * time.Minute)
	m := r.m.Model()
	if len(m.Shards()) != 2 || len(r.spares()) != 0 {
		t.Fatalf("%+v of %+v; %s", m.Shards(), m.Slaves(), strings.Join(r.events, "\n"))
	}
	for _, sh := range m.Shards() {
		if len(m.Set(sh.ID)) != 2 {
			t.Errorf("%s: %+v", sh.Name, m.Set(sh.ID))
		}
	}
	r.restart("a", "b", "c", "d")
	if r.m.Replicas() != 2 {
		t.Errorf("%d replicas after a restart", r.m.Replicas())
	}
	r.live(time.Minute)
	r.must(r.m.SetReplicas(r.now, 1))
	r.live(time.Minute)
	if m := r.m.Model(); len(m.Shards()) != 4 || len(m.Slaves()) != 4 {
		t.Fatalf("%+v of %+v", m.Shards(), m.Slaves())
	}
	if err := r.m.SetReplicas(r.now, 0); err == nil {
		t.Error("no replica is possible")
	}
	r.cfg.Replicas = 2 // a change of the configuration takes effect
	r.restart("a", "b", "c", "d")
	if r.m.Replicas() != 2 {
		t.Errorf("%d replicas after the configuration has changed", r.m.Replicas())
	}
}

// TestTheOnlyReplicaIsNotDrained: the only replica is not drained until another one serves.
func TestTheOnlyReplicaIsNotDrained(t *testing.T) {
	r := newReplicated(t, nil, "a", "b")
	r.mute["a"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	if err := r.m.Drain(r.now, "b"); err == nil || !strings.Contains(err.Error(), "no other replica") {
		t.Errorf("%v", err)
	}
	r.must(r.m.Remove(r.now, "a"))
	r.carry()
	r.wantShard("shard-0", "b")
	if _, there := r.m.Model().Slave("a"); there {
		t.Error("a is still there")
	}
}

// TestLimitsOfAShard: the slaves of a shard share its queries, but each must hold all of its
// items.
func TestLimitsOfAShard(t *testing.T) {
	r := newReplicated(t, func(c *cluster.Config) {
		c.Limits = map[string]balance.Limit{"a": {Share: 3, Weight: 5000}, "b": {Weight: 9000}}
	}, "a", "b", "c", "d")
	got := r.m.Limits()
	if got[1] != (balance.Limit{Share: 4, Weight: 5000}) || got[2] != (balance.Limit{Share: 2}) {
		t.Errorf("%+v", got)
	}
}
