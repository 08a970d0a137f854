package replicas

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/cluster/clustertest"
	"adshard/balance/maps"
	"adshard/balance/verify"
)

// joiningSlave returns a membership of the shards a and b in which c is to join a, and a
// function that looks at it and returns the operations that are due.
func joiningSlave(t *testing.T) (m *Membership, look func() []balance.Op) {
	t.Helper()
	c, _ := clustertest.New(t, cluster.Config{Strategy: clustertest.Proposes{}, Replicas: 2}, balance.Active)
	e := c.Model.Edit()
	a := c.Model.Slices()[0].Shard
	if err := e.Enlist("c", balance.Site{}, false); err != nil {
		t.Fatal(err)
	}
	if err := e.Assign("c", a); err != nil {
		t.Fatal(err)
	}
	model, err := e.Model()
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Paused = model, true // no other slave joins or leaves
	j := cluster.NewJournal()
	m = New(c, j, verify.New(c, j), maps.New(c, j))
	now := time.Duration(0)
	return m, func() []balance.Op {
		now += membershipPace
		for _, name := range []string{"a", "b", "c"} {
			n := c.Slave(name)
			n.Heard, n.CaughtUp = now, now
		}
		e := &cluster.Edit{Cluster: c, Journal: j}
		m.Arrange(now, e)
		if e.Begun == nil {
			return nil
		}
		return e.Begun.Ops()
	}
}

// TestASlaveJoinsWhenAllOfItIsRight: a slave is compared once it has everything, and joins when
// each slice was found right.
func TestASlaveJoinsWhenAllOfItIsRight(t *testing.T) {
	m, look := joiningSlave(t)
	if ops := look(); ops != nil || asks(m) != nil {
		t.Fatalf("before it has reported: %v", ops)
	}
	n := m.Slave("c")
	n.Reported, n.Table = true, m.Model.TableOf("c")
	for i := range n.Table.Slices {
		n.Table.Slices[i].State = balance.Full
	}
	ops := look()
	asked := asks(m)
	if ops != nil || len(asked) != len(m.Model.Slices()) {
		t.Fatalf("%d slices are compared, %v", len(asked), ops)
	}
	for _, a := range asked[1:] {
		answerEqual(m, a)
		if ops := look(); ops != nil {
			t.Fatalf("joins before slice %d is right: %v", asked[0].Slice, ops)
		}
	}
	answerEqual(m, asked[0])
	if ops := look(); len(ops) != 1 || ops[0].Kind != balance.OpEnter || ops[0].Name != "c" {
		t.Errorf("a correct set gets commands: %v", ops)
	}
}

// asks returns the questions about copies that are due.
func asks(m *Membership) []balance.Certify {
	m.verify.Step(0)
	asked, _ := m.verify.Out()
	return asked
}

// answerEqual answers a question with an equal copy.
func answerEqual(m *Membership, a balance.Certify) {
	m.verify.Answered(0, balance.Certified{Seq: a.Seq, Target: &balance.Certificate{}})
	m.verify.Findings(0, m.Certified)
}
