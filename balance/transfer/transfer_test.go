package transfer

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/cluster/clustertest"
	"adshard/balance/maps"
	"adshard/balance/verify"
)

// started returns moves, of which the first, of the second slice from a to b, has begun.
func started(t *testing.T) (m *Moves, w *maps.Views, v *activeMove, n *cluster.Slave) {
	t.Helper()
	c, b := clustertest.New(t, cluster.Config{Strategy: clustertest.Proposes{}}, balance.Active)
	j := cluster.NewJournal()
	m, w = New(c, j, verify.New(c, j)), maps.New(c, j)
	s := c.Model.Slices()[1]
	model := edited(t, m, func(e *balance.Edit) error { return e.Start(s.ID, b) })
	c.Model = model
	why := cluster.Causes{}
	why.SetMove(s.ID, cluster.Cause{Text: "for the test"})
	m.Took(0, cluster.Change{Model: model, Why: why})
	v, n = m.all[s.ID], c.Slave("b")
	if v == nil || len(v.arrivals) != 1 || v.arrivals[0].slave != "b" {
		t.Fatalf("begun %+v", v)
	}
	return m, w, v, n
}

func edited(t *testing.T, m *Moves, edit func(*balance.Edit) error) *balance.Model {
	t.Helper()
	e := m.Model.Edit()
	if err := edit(e); err != nil {
		t.Fatal(err)
	}
	model, err := e.Model()
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// due returns the operations that are due for the moves.
func due(m *Moves, w *maps.Views, now time.Duration) []balance.Op {
	e := &cluster.Edit{Cluster: m.Cluster, Journal: m.Journal}
	m.AddDue(now, e, w)
	if e.Begun == nil {
		return nil
	}
	return e.Begun.Ops()
}

// asks returns the questions about copies that are due.
func asks(m *Moves, now time.Duration) []balance.Certify {
	m.verify.Step(now)
	asked, _ := m.verify.Out()
	return asked
}

// answerEqual answers all questions with equal copies.
func answerEqual(m *Moves, now time.Duration) {
	for _, a := range asks(m, now) {
		m.verify.Answered(now, balance.Certified{Seq: a.Seq, Source: &balance.Certificate{}, Target: &balance.Certificate{}})
	}
	m.verify.Findings(now, func(f verify.Finding) { m.Compared(now, f) })
}

// TestAMoveIsSwitchedWhenItsCopyIsRight: a move is not switched when its copy has only arrived.
// After the switch, the slice does not return to where it was.
func TestAMoveIsSwitchedWhenItsCopyIsRight(t *testing.T) {
	m, w, v, n := started(t)
	const now = calmWait
	m.Slave("a").Heard, n.Heard = now, now
	n.Table.Slices = []balance.Held{{ID: v.id, Generation: v.generation, Lo: v.lo, Hi: v.hi, State: balance.Full}}
	m.Arrived(now, "b")
	m.queueIfReady(now, v)
	if ops := due(m, w, now); ops != nil || !v.arrivals[0].arrived {
		t.Fatalf("switched before it was compared: %v", ops)
	}
	answerEqual(m, now)
	ops := due(m, w, now)
	if len(ops) != 1 || ops[0].Kind != balance.OpSwitch || ops[0].Slice != v.id {
		t.Fatalf("due %v", ops)
	}
	from := v.a
	m.Model = edited(t, m, func(e *balance.Edit) error { return e.Switch(v.id) })
	m.Took(now, cluster.Change{Model: m.Model, Ops: ops})
	away, _ := m.Out()
	if len(away) != 1 || away[0].Shard != from || away[0].Interval != (balance.Interval{Lo: v.lo, Hi: v.hi}) {
		t.Errorf("stays away from %+v", away)
	}
	if asked := asks(m, now); asked != nil {
		t.Errorf("the copy is still compared: %+v", asked)
	}
}

// TestAMoveStartsAnewWithItsSlave: the result of a comparison does not count for a copy that
// the slave has lost.
func TestAMoveStartsAnewWithItsSlave(t *testing.T) {
	m, _, v, n := started(t)
	n.Table.Slices = []balance.Held{{ID: v.id, Generation: v.generation, Lo: v.lo, Hi: v.hi, State: balance.Full}}
	m.Arrived(0, "b")
	answerEqual(m, 0)
	if !v.arrivals[0].done() || v.first == 0 {
		t.Fatalf("certified, but not done: %+v", v)
	}
	n.Table.Slices = nil
	m.Arrived(0, "b")
	if check := v.arrivals[0].check; v.arrivals[0].done() || check.Bins() != 0 || v.first != 0 || asks(m, time.Minute) != nil {
		t.Errorf("after its loss: %+v", check)
	}
}

// TestAMoveThatIsGivenUpStaysAway: the target of a move that was given up does not get the
// slice again at once.
func TestAMoveThatIsGivenUpStaysAway(t *testing.T) {
	m, w, v, _ := started(t)
	to := v.b
	m.doom(v, "of the test")
	ops := due(m, w, 0)
	if len(ops) != 1 || ops[0].Kind != balance.OpCancel {
		t.Fatalf("due %v", ops)
	}
	m.Model = edited(t, m, func(e *balance.Edit) error { return e.Cancel(v.id) })
	m.Took(0, cluster.Change{Model: m.Model, Ops: ops})
	if away, _ := m.Out(); len(away) != 1 || away[0].Shard != to || len(m.all) != 0 || asks(m, 0) != nil {
		t.Errorf("stays away from %+v; %d moves", away, len(m.all))
	}
}
