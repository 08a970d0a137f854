package mapper

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/cluster/clustertest"
	"adshard/balance/maps"
	"adshard/balance/plan"
	"adshard/balance/replicas"
	"adshard/balance/verify"
	"adshard/fault"
)

// TestOrdersAreAcceptedOrRefusedAtOnce: an order that contradicts an accepted one is refused,
// and one change executes all accepted orders, only once.
func TestOrdersAreAcceptedOrRefusedAtOnce(t *testing.T) {
	c, b := clustertest.New(t, cluster.Config{Strategy: clustertest.Proposes{}}, balance.Active)
	j := cluster.NewJournal()
	v := maps.New(c, j)
	q := newOrders(c, plan.New(c, j), v, replicas.New(c, j, verify.New(c, j), v))
	now := time.Duration(0)
	s := c.Model.Slices()[0].ID
	for _, n := range []string{"a", "b"} {
		c.Slave(n).Heard, c.Slave(n).CaughtUp = now, now
	}
	for _, o := range []struct {
		what string
		give func() error
		kind fault.Kind
	}{
		{"an unknown slice", func() error { return q.move(now, 1<<60, "b") }, fault.NotFound},
		{"an unknown slave", func() error { return q.move(now, s, "c") }, fault.NotFound},
		{"an active slave", func() error { return q.restore(now, "b") }, fault.Conflict},
		{"a live slave", func() error { return q.remove(now, "b") }, fault.Conflict},
		{"a move", func() error { return q.move(now, s, "b") }, 0},
		{"the same move again", func() error { return q.move(now, s, "b") }, fault.Conflict},
		{"to drain", func() error { return q.drain(now, "a") }, 0},
		{"to drain the last one", func() error { return q.drain(now, "b") }, fault.Conflict},
		{"to restore before it is drained", func() error { return q.restore(now, "a") }, 0},
	} {
		if err := o.give(); o.kind == 0 && err != nil || o.kind != 0 && !fault.Is(err, o.kind) {
			t.Errorf("%s: %v", o.what, err)
		}
	}
	e, why := &cluster.Edit{Cluster: c, Journal: j}, make(cluster.Causes)
	q.obey(now, e, why)
	if len(e.Begun.Ops()) == 0 || len(q.waiting) != 0 || !why.OfMove(s).Commanded {
		t.Fatalf("executed %+v, %d wait, %+v", e.Begun.Ops(), len(q.waiting), why)
	}
	moved := false
	for _, o := range e.Begun.Ops() {
		moved = moved || o.Kind == balance.OpStart && o.Slice == s && o.Shard == b
	}
	if !moved {
		t.Errorf("the slice does not move: %+v", e.Begun.Ops())
	}
	e = &cluster.Edit{Cluster: c, Journal: j}
	if q.obey(now, e, why); !e.Idle() {
		t.Error("orders are executed twice")
	}
}
