package mapper

import (
	"testing"
	"time"

	"adshard/balance"
)

// started returns moves of which one has begun: of the second slice from a to b.
func started(t *testing.T) (m *moves, w *views, v *activeMove, n *nodeInfo) {
	t.Helper()
	_, c, b := planning(t, Config{Strategy: proposes{}}, balance.Active)
	j := newJournal()
	m, w = newMoves(c, j, newVerifier(c, j)), newViews(c, j)
	s := c.model.Slices()[1]
	model := edited(t, m, func(e *balance.Edit) error { return e.Start(s.ID, b) })
	c.model = model
	m.took(0, modelChange{model: model, why: causes{causeOf{s.ID, 0}: {text: "for the test"}}})
	v, n = m.all[s.ID], c.node("b")
	if v == nil || len(v.arrivals) != 1 || v.arrivals[0].slave != "b" {
		t.Fatalf("begun %+v", v)
	}
	return m, w, v, n
}

func edited(t *testing.T, m *moves, edit func(*balance.Edit) error) *balance.Model {
	t.Helper()
	e := m.model.Edit()
	if err := edit(e); err != nil {
		t.Fatal(err)
	}
	model, err := e.Model()
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// due returns the operations of moves that are due.
func due(m *moves, w *views, now time.Duration) []balance.Op {
	e := &lazyEdit{cluster: m.cluster, journal: m.journal}
	m.dueMoves(now, e, w)
	if e.e == nil {
		return nil
	}
	return e.e.Ops()
}

// TestAMoveIsSwitchedWhenItsCopyIsRight: and not when it has arrived only. Then the slice stays
// away from where it was.
func TestAMoveIsSwitchedWhenItsCopyIsRight(t *testing.T) {
	m, w, v, n := started(t)
	const now = calmWait
	m.node("a").heard, n.heard = now, now
	n.table.Slices = []balance.Held{{ID: v.id, Generation: v.generation, Lo: v.lo, Hi: v.hi, State: balance.Full}}
	m.arrived(now, "b")
	m.queueIfReady(now, v)
	if ops := due(m, w, now); ops != nil || !v.arrivals[0].arrived {
		t.Fatalf("switched before it was compared: %v", ops)
	}
	check := v.arrivals[0].check
	check.matched = allBins
	m.compared(now, finding{c: check, came: true, right: &check.all, done: true})
	ops := due(m, w, now)
	if len(ops) != 1 || ops[0].Kind != balance.OpSwitch || ops[0].Slice != v.id {
		t.Fatalf("due %v", ops)
	}
	from := v.a
	m.model = edited(t, m, func(e *balance.Edit) error { return e.Switch(v.id) })
	m.took(now, modelChange{model: m.model, ops: ops})
	away, _ := m.out()
	if len(away) != 1 || away[0].node != from || away[0].Interval != (balance.Interval{Lo: v.lo, Hi: v.hi}) {
		t.Errorf("stays away from %+v", away)
	}
	if !check.off {
		t.Error("the copy is still compared")
	}
}

// TestAMoveStartsAnewWithItsSlave: what was found right of a copy that the slave lost does not
// count.
func TestAMoveStartsAnewWithItsSlave(t *testing.T) {
	m, _, v, n := started(t)
	n.table.Slices = []balance.Held{{ID: v.id, Generation: v.generation, Lo: v.lo, Hi: v.hi, State: balance.Full}}
	m.arrived(0, "b")
	check := v.arrivals[0].check
	check.matched, v.first = allBins, 1
	n.table.Slices = nil
	m.arrived(0, "b")
	if v.arrivals[0].done() || check.matched != 0 || v.first != 0 || !check.off {
		t.Errorf("after its loss: %+v", check)
	}
}

// TestAMoveThatIsGivenUpStaysAway: its target does not get the slice again at once.
func TestAMoveThatIsGivenUpStaysAway(t *testing.T) {
	m, w, v, _ := started(t)
	to := v.b
	m.doom(v, "of the test")
	ops := due(m, w, 0)
	if len(ops) != 1 || ops[0].Kind != balance.OpCancel {
		t.Fatalf("due %v", ops)
	}
	m.model = edited(t, m, func(e *balance.Edit) error { return e.Cancel(v.id) })
	m.took(0, modelChange{model: m.model, ops: ops})
	if away, _ := m.out(); len(away) != 1 || away[0].node != to || len(m.all) != 0 || len(m.verify.moving) != 0 {
		t.Errorf("stays away from %+v; %d moves, %d compared", away, len(m.all), len(m.verify.moving))
	}
}
