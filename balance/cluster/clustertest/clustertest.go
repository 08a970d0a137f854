// Package clustertest provides a small cluster, for tests of the machines that read one.
package clustertest

import (
	"testing"

	"adshard/balance"
	"adshard/balance/cluster"
)

// Proposes is a strategy that makes the same proposal in each iteration.
type Proposes struct {
	balance.Strategy
	Ops []balance.Op
}

// Name implements balance.Strategy.
func (p Proposes) Name() string { return "proposes" }

// Iterate implements balance.Strategy.
func (p Proposes) Iterate(balance.Input) (balance.Proposal, error) {
	return balance.Proposal{Ops: p.Ops}, nil
}

// New returns a cluster with four slices of one item each. They are all on shard a, which has the
// given state; shard b has no slices.
func New(t testing.TB, cfg cluster.Config, state balance.ShardState) (c *cluster.Cluster, b balance.ShardID) {
	t.Helper()
	base, err := balance.NewModel([]balance.Shard{{Name: "a", State: state}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	e := base.Edit()
	items, last := &balance.Index{}, base.Slices()[0].ID
	for i := range 4 {
		items.Put(balance.Key(uint64(i)<<62)+1, 10)
		if i == 0 {
			continue
		}
		if last, err = e.Split(last, balance.Key(uint64(i)<<62)); err != nil {
			t.Fatal(err)
		}
	}
	model, err := e.Model()
	if err != nil {
		t.Fatal(err)
	}
	c = cluster.New(cfg.WithDefaults(), items)
	c.Model = model
	for _, sh := range model.Shards() {
		c.Slave(sh.Name)
	}
	return c, model.Shards()[1].ID
}
