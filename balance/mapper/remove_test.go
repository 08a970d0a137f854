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

// gone drains a node until it has nothing, and lets it fall silent.
func (r *rig) gone(node string) {
	r.t.Helper()
	r.must(r.m.Drain(r.now, node))
	r.carry()
	for range 12 {
		r.through()
		r.pass(rigInterval)
	}
	if n, _ := r.m.Model().Named(node); n.State != balance.Drained {
		r.t.Fatalf("%+v", n)
	}
	r.mute[node] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
}

// refused wants a removal refused, with a reason.
func (r *rig) refused(node, why string) {
	r.t.Helper()
	err := r.m.Remove(r.now, node)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), why) {
		r.t.Errorf("remove %s: %v, want %q", node, err, why)
	}
	r.carry()
	if _, ok := r.m.Model().Named(node); !ok {
		r.t.Fatalf("%s is removed all the same", node)
	}
}

// TestANodeIsRemoved: one that is dead and empty is taken out of the model for
// good, by a view of its own that outlives the balancer; one of its name that
// joins later is another one.
func TestANodeIsRemoved(t *testing.T) {
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
		if _, ok := m.Named("b"); ok || len(m.Nodes()) != 2 || m.View() != view+1 {
			t.Fatalf("view %d, was %d: %+v", m.View(), view, m.Nodes())
		}
		for _, n := range r.m.Status(r.now).Nodes {
			if n.Name == "b" {
				t.Error("the status lists it")
			}
		}
	}
	check()
	if err := r.m.Report(r.now, mapper.NodeReport{Name: "b", Incarnation: "1"}); !fault.Is(err, fault.Stale) {
		t.Errorf("its report: %v", err)
	}
	if s, err := balance.DecodeState(r.state); err != nil || len(s.Model.Nodes()) != 2 {
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
	if n, ok := r.m.Model().Named("b"); !ok || n.ID != 4 || n.State != balance.Active {
		t.Errorf("back: %+v, %v", n, ok)
	}
}

// TestANodeWithSlicesIsNotRemoved: a dead one is drained first, which fills its
// slices on others from the source of truth; then it can go. The last active one
// stays.
func TestANodeWithSlicesIsNotRemoved(t *testing.T) {
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
	if nodes := r.m.Model().Nodes(); len(nodes) != 1 || nodes[0].Name != "a" {
		t.Errorf("%+v", nodes)
	}
	r.mute["a"] = true
	r.pass(time.Minute)
	r.refused("a", "slices")
}

// TestANodeThatComesBackMeanwhile: a removal that waits to be made durable is not
// undone by a node that joins then; it is admitted as another one.
func TestANodeThatComesBackMeanwhile(t *testing.T) {
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
	n, ok := r.m.Model().Named("b")
	if s, _ := r.m.Model().Slave("b"); !ok || n.ID != 4 || s.Address != "new:1" || s.Node != 4 || n.State != balance.Active {
		t.Errorf("%+v at %+v, %v", n, s, ok)
	}
	table := r.table("b")
	if err := r.m.Report(r.now, mapper.NodeReport{Name: "b", Incarnation: "2", Table: &table}); err != nil {
		t.Error(err)
	}
}

// TestAGhostBeforeTheFirstPlan: a node that joined and died does not count among
// those that the first plan waits for.
func TestAGhostBeforeTheFirstPlan(t *testing.T) {
	cfg := cluster.Config{Epoch: 1, Nodes: 2, Order: balance.ByHash, Strategy: stubborn{initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 4) }}}
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

// TestRemoveOperation: what Apply refuses, and that a removed node's number is not
// given again.
func TestRemoveOperation(t *testing.T) {
	base, err := balance.NewModel([]balance.Node{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base.Apply([]balance.Op{{Kind: balance.OpRemove, Node: 2}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("before the first plan: %v", err)
	}
	m, err := base.Apply(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ops := range [][]balance.Op{
		{{Kind: balance.OpRemove, Node: 1}}, // has the whole ring
		{{Kind: balance.OpRemove, Node: 9}},
		{{Kind: balance.OpStart, Slice: 1, Node: 2}, {Kind: balance.OpRemove, Node: 2}},
		{{Kind: balance.OpRemove, Node: 2}, {Kind: balance.OpStart, Slice: 1, Node: 2}},
		{{Kind: balance.OpRemove, Node: 2}, {Kind: balance.OpRemove, Node: 2}},
	} {
		if _, err := m.Apply(ops); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", ops, err)
		}
	}
	m, err = m.Apply([]balance.Op{{Kind: balance.OpRemove, Node: 2, Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := balance.DecodeState(balance.State{Quantum: 7, Model: m}.Encode())
	if err != nil || len(back.Model.Nodes()) != 1 {
		t.Fatalf("%v, %+v", err, back.Model)
	}
	if _, err := back.Model.Apply([]balance.Op{{Kind: balance.OpJoin, Node: 3, Name: "b"}}); err != nil {
		t.Errorf("the next number is not 3: %v", err)
	}
}
