package mapper_test

import (
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
	"adshard/fault"
)

// gone drains a slave until it has nothing, and then lets it fall silent.
func (r *rig) gone(slave string) {
	r.t.Helper()
	r.must(r.m.Drain(r.now, slave))
	r.carry()
	for range 12 {
		r.through()
		r.pass(rigInterval)
	}
	if sh, _ := r.m.Model().Named(slave); sh.State != balance.Drained {
		r.t.Fatalf("%+v", sh)
	}
	r.mute[slave] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
}

// refused checks that a removal is refused with a reason.
func (r *rig) refused(slave, why string) {
	r.t.Helper()
	err := r.m.Remove(r.now, slave)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), why) {
		r.t.Errorf("remove %s: %v, want %q", slave, err, why)
	}
	r.carry()
	if _, ok := r.m.Model().Named(slave); !ok {
		r.t.Fatalf("%s is removed all the same", slave)
	}
}

// TestAShardIsRemoved: a dead and empty shard is removed from the model for good, by a view
// that outlives the balancer; a shard with the same name that joins later is a new one.
func TestAShardIsRemoved(t *testing.T) {
	r, _ := newWants(t, nil, "a", "b", "c")
	if err := r.m.Remove(r.now, "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown: %v", err)
	}
	r.refused("b", "stop it first")
	r.gone("b")
	view := r.m.Model().View()
	r.must(r.m.Remove(r.now, "b"))
	r.carry()
	r.wantEvent(`"b" is removed`)
	check := func() {
		t.Helper()
		m := r.m.Model()
		if _, ok := m.Named("b"); ok || len(m.Shards()) != 2 || m.View() != view+1 {
			t.Fatalf("view %d, was %d: %+v", m.View(), view, m.Shards())
		}
		for _, n := range r.m.Status(r.now).Shards {
			if n.Name == "b" {
				t.Error("the status lists it")
			}
		}
	}
	check()
	if err := r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1"}); !fault.Is(err, fault.Stale) {
		t.Errorf("its report: %v", err)
	}
	if s, err := balance.DecodeState(r.state); err != nil || len(s.Model.Shards()) != 2 {
		t.Errorf("what is durable: %v", err)
	}
	r.ackAll()
	if p := r.m.Published(); p.View() != view+1 {
		t.Errorf("masters get view %d", p.View())
	}
	r.restart("a", "c")
	check()
	delete(r.mute, "b")
	r.must(r.m.Join(r.now, balance.Joining{Name: "b"}))
	r.carry()
	if sh, ok := r.m.Model().Named("b"); !ok || sh.ID != 4 || sh.State != balance.Active {
		t.Errorf("back: %+v, %v", sh, ok)
	}
}

// TestAShardWithSlicesIsNotRemoved: a dead shard must first be drained, which fills its
// slices on others from the source of truth; then it can be removed. The last active shard
// stays.
func TestAShardWithSlicesIsNotRemoved(t *testing.T) {
	r, _ := newWants(t, func(c *cluster.Config) { c.EvacuateAfter = 0 }, "a", "b")
	r.mute["b"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	r.refused("b", "it still has 4 slices: drain it")
	r.must(r.m.Drain(r.now, "b"))
	r.carry()
	r.pass(time.Second)
	r.refused("b", "it still has")
	for range 20 {
		r.ack("a")
		for _, q := range r.asked {
			r.asked = []balance.Certify{q}
			r.answer(nil)
		}
		r.pass(rigInterval)
	}
	r.must(r.m.Remove(r.now, "b"))
	r.carry()
	if shards := r.m.Model().Shards(); len(shards) != 1 || shards[0].Name != "a" {
		t.Errorf("%+v", shards)
	}
	r.mute["a"] = true
	r.pass(time.Minute)
	r.refused("a", "slices")
}

// TestASlaveThatComesBackMeanwhile: a slave's return does not undo a removal that is not
// durable yet; the slave is admitted as a new one.
func TestASlaveThatComesBackMeanwhile(t *testing.T) {
	r, _ := newWants(t, nil, "a", "b", "c")
	r.gone("b")
	r.slow = true
	r.must(r.m.Remove(r.now, "b"))
	r.carry()
	if r.hold == nil {
		t.Fatal("nothing is to be saved")
	}
	r.must(r.m.Join(r.now, balance.Joining{Name: "b", Site: balance.Site{Address: "new:1"}}))
	r.slow = false
	r.carry()
	sh, ok := r.m.Model().Named("b")
	if s, _ := r.m.Model().Slave("b"); !ok || sh.ID != 4 || s.Address != "new:1" || s.Shard != 4 || sh.State != balance.Active {
		t.Errorf("%+v at %+v, %v", sh, s, ok)
	}
	table := r.table("b")
	if err := r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "2", Table: &table}); err != nil {
		t.Error(err)
	}
}

// TestAGhostBeforeTheFirstPlan: a slave that joined and died does not count among those for
// which the first plan waits.
func TestAGhostBeforeTheFirstPlan(t *testing.T) {
	cfg := cluster.Config{Epoch: 1, Slaves: 2, Order: balance.ByHash, Strategy: stubborn{initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 4) }}}
	m, err := mapper.New(cfg, &balance.Index{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Loaded(0, 1)
	if err := m.Join(0, balance.Joining{Name: "ghost"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Remove(time.Second, "ghost"); !fault.Is(err, fault.Conflict) {
		t.Errorf("alive: %v", err)
	}
	for now := time.Second; now <= time.Minute; now += time.Second {
		m.Tick(now)
	}
	if err := m.Remove(time.Minute, "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown: %v", err)
	}
	if err := m.Remove(time.Minute, "ghost"); err != nil || !strings.Contains(m.Waiting(), "0 of 2") {
		t.Errorf("%v: %s", err, m.Waiting())
	}
}

// TestRemoveOperation: Apply refuses wrong removals, and a removed slave's number is not
// reused.
func TestRemoveOperation(t *testing.T) {
	base, err := balance.NewModel([]balance.Shard{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base.Apply([]balance.Op{{Kind: balance.OpRemove, Shard: 2}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("before the first plan: %v", err)
	}
	m, err := base.Apply(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ops := range [][]balance.Op{
		{{Kind: balance.OpRemove, Shard: 1}}, // the shard has the whole ring
		{{Kind: balance.OpRemove, Shard: 9}},
		{{Kind: balance.OpStart, Slice: 1, Shard: 2}, {Kind: balance.OpRemove, Shard: 2}},
		{{Kind: balance.OpRemove, Shard: 2}, {Kind: balance.OpStart, Slice: 1, Shard: 2}},
		{{Kind: balance.OpRemove, Shard: 2}, {Kind: balance.OpRemove, Shard: 2}},
	} {
		if _, err := m.Apply(ops); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", ops, err)
		}
	}
	m, err = m.Apply([]balance.Op{{Kind: balance.OpRemove, Shard: 2, Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := balance.DecodeState(balance.State{Quantum: 7, Model: m}.Encode())
	if err != nil || len(back.Model.Shards()) != 1 {
		t.Fatalf("%v, %+v", err, back.Model)
	}
	if _, err := back.Model.Apply([]balance.Op{{Kind: balance.OpJoin, Shard: 3, Name: "b"}}); err != nil {
		t.Errorf("the next number is not 3: %v", err)
	}
}
