package mapper

import (
	"testing"
	"time"

	"adshard/balance"
)

// proposes is a strategy that proposes the same again and again.
type proposes struct {
	balance.Strategy
	ops []balance.Op
}

func (p proposes) Name() string { return "proposes" }

func (p proposes) Iterate(balance.Input) (balance.Proposal, error) {
	return balance.Proposal{Ops: p.ops}, nil
}

// planning returns a planner for four slices of one item each, all on a; b has none.
func planning(t *testing.T, cfg Config, state balance.NodeState) (p *planner, c *cluster, b balance.NodeID) {
	t.Helper()
	base, err := balance.NewModel([]balance.Node{{Name: "a", State: state}, {Name: "b"}})
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
	c = newCluster(cfg.WithDefaults(), items)
	c.model = model
	for _, n := range model.Nodes() {
		c.node(n.Name)
	}
	return newPlanner(c, newJournal()), c, model.Nodes()[1].ID
}

// TestAPlannerEmptiesWithinTheBudget: of a node that drains a planner moves what the budget
// allows, goes on when that is done, and changes nothing itself.
func TestAPlannerEmptiesWithinTheBudget(t *testing.T) {
	p, c, b := planning(t, Config{Budget: balance.Budget{Share: 0.5}, Strategy: proposes{}}, balance.Draining)
	was := c.model
	d := p.due(0)
	if d == nil || len(d.ops) != 2 || c.model != was {
		t.Fatalf("decided %+v", d)
	}
	for _, o := range d.ops {
		if o.Kind != balance.OpStart || o.Node != b || !d.why.of(o).away {
			t.Errorf("decided to %s: %+v", o, d.why.of(o))
		}
	}
	c.model = d.model
	if again := p.due(emptyPace); again != nil {
		t.Errorf("the budget is used up, and more is decided: %+v", again.ops)
	}
}

// TestAPlannerRefusesWhatCameBack: what left a node a moment ago does not return, and the
// whole proposal is refused.
func TestAPlannerRefusesWhatCameBack(t *testing.T) {
	p, c, b := planning(t, Config{Interval: time.Second}, balance.Active)
	s := c.model.Slices()[0]
	p.strategy = proposes{ops: []balance.Op{{Kind: balance.OpStart, Slice: s.ID, Node: b}}}
	p.rests.add(b, rest{Interval: balance.Interval{Lo: s.Lo, Hi: s.Hi}, until: time.Minute, load: -1, why: "could not get there"})
	if d := p.due(time.Second); d != nil || p.refused != 1 || len(p.troubles) != 1 {
		t.Errorf("decided %+v; %d refused, %v", d, p.refused, p.troubles)
	}
	c.node("b").heard = time.Minute
	if d := p.due(time.Minute); d == nil || len(d.ops) != 1 {
		t.Errorf("after a minute decided %+v", d)
	}
}
