package plan

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/cluster/clustertest"
)

// planning returns a planner for the two shards of a clustertest cluster.
func planning(t *testing.T, cfg cluster.Config, state balance.ShardState) (p *Planner, c *cluster.Cluster, b balance.ShardID) {
	t.Helper()
	c, b = clustertest.New(t, cfg, state)
	return New(c, cluster.NewJournal()), c, b
}

// TestAPlannerEmptiesWithinTheBudget: a planner moves as much off a draining shard as the
// budget allows, goes on when that is done, and changes nothing itself.
func TestAPlannerEmptiesWithinTheBudget(t *testing.T) {
	p, c, b := planning(t, cluster.Config{Budget: balance.Budget{Share: 0.5}, Strategy: clustertest.Proposes{}}, balance.Draining)
	was := c.Model
	d := p.Due(0)
	if d == nil || len(d.Ops) != 2 || c.Model != was {
		t.Fatalf("decided %+v", d)
	}
	for _, o := range d.Ops {
		if o.Kind != balance.OpStart || o.Shard != b || !d.Why.Of(o).Away {
			t.Errorf("decided to %s: %+v", o, d.Why.Of(o))
		}
	}
	c.Model = d.Model
	if again := p.Due(emptyPace); again != nil {
		t.Errorf("the budget is used up, and more is decided: %+v", again.Ops)
	}
}

// TestAPlannerRefusesWhatCameBack: a slice that left a shard a moment ago may not return,
// and the whole proposal is refused.
func TestAPlannerRefusesWhatCameBack(t *testing.T) {
	p, c, b := planning(t, cluster.Config{Interval: time.Second}, balance.Active)
	s := c.Model.Slices()[0]
	p.strategy = clustertest.Proposes{Ops: []balance.Op{{Kind: balance.OpStart, Slice: s.ID, Shard: b}}}
	p.rests.add(b, cluster.Rest{Interval: balance.Interval{Lo: s.Lo, Hi: s.Hi}, Until: time.Minute, Load: -1, Why: "could not get there"})
	if d := p.Due(time.Second); d != nil || p.refused != 1 || len(p.Troubles) != 1 {
		t.Errorf("decided %+v; %d refused, %v", d, p.refused, p.Troubles)
	}
	c.Slave("b").Heard = time.Minute
	if d := p.Due(time.Minute); d == nil || len(d.Ops) != 1 {
		t.Errorf("after a minute decided %+v", d)
	}
}
