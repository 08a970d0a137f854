package mapper

import (
	"slices"
	"testing"
	"time"

	"adshard/balance"
)

// joiningSlave returns a membership of the shards a and b in which c is to join a, and how often
// it was looked at.
func joiningSlave(t *testing.T) (m *membership, look func() []balance.Op) {
	t.Helper()
	_, c, _ := planning(t, Config{Strategy: proposes{}, Replicas: 2}, balance.Active)
	e := c.model.Edit()
	a := c.model.Slices()[0].Node
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
	c.model, c.paused = model, true // no other slave joins or leaves
	j := newJournal()
	m = newMembership(c, j, newVerifier(c, j), newViews(c, j))
	now := time.Duration(0)
	return m, func() []balance.Op {
		now += membershipPace
		for _, name := range []string{"a", "b", "c"} {
			n := c.node(name)
			n.heard, n.caughtUp = now, now
		}
		e := &lazyEdit{cluster: c, journal: j}
		m.arrange(now, e)
		if e.e == nil {
			return nil
		}
		return e.e.Ops()
	}
}

// TestASlaveJoinsWhenAllOfItIsRight: it is compared once it has everything, and joins when each
// slice was found right.
func TestASlaveJoinsWhenAllOfItIsRight(t *testing.T) {
	m, look := joiningSlave(t)
	if ops := look(); ops != nil || m.verify.queue != nil {
		t.Fatalf("before it has reported: %v", ops)
	}
	n := m.node("c")
	n.reported, n.table = true, m.model.TableOf("c")
	for i := range n.table.Slices {
		n.table.Slices[i].State = balance.Full
	}
	if ops := look(); ops != nil || len(m.verify.joining["c"]) != len(m.model.Slices()) {
		t.Fatalf("%d slices are compared, %v", len(m.verify.joining["c"]), ops)
	}
	checks := slices.Clone(m.verify.joining["c"])
	for _, check := range checks[1:] {
		m.certified(finding{c: check, right: &check.all, done: true})
		if ops := look(); ops != nil {
			t.Fatalf("joins before slice %d is right: %v", checks[0].id, ops)
		}
	}
	m.certified(finding{c: checks[0], right: &checks[0].all, done: true})
	if ops := look(); len(ops) != 1 || ops[0].Kind != balance.OpEnter || ops[0].Name != "c" {
		t.Errorf("a correct set gets commands: %v", ops)
	}
}
