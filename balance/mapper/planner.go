package mapper

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/fault"
)

// planner decides what is to move: once an interval it asks the strategy, and in between it
// empties nodes that drain or are lost. It reads the cluster and changes nothing of it; what it
// decides is a change, which the mapper makes durable.
//
// It guarantees that what begins to move stays within the budget, goes where it may, and does
// not come back to a node that it left a moment ago, unless its load has changed. Only what must
// leave its node may exceed the budget, one slice at a time.
type planner struct {
	*cluster
	*journal
	strategy balance.Strategy
	rests    rests
	recall   recall // what strategies remember

	next       time.Duration // when the next iteration is due
	empty      time.Duration // when nodes that drain or are lost are emptied further
	iterations uint64
	idle       uint64        // iterations, one after another, that moved nothing
	since      time.Duration // of the first of them
	last       Iteration
	shadows    []balance.Shadow
	bound      load.Bound
	leastMove  uint64
	leastShare float64
	adopted    bool
	drained    []balance.NodeID // have no slices left
	forgot     bool             // a strategy's memory was dropped, which is not durable yet
	refused    uint64           // proposals of the strategy
}

func newPlanner(c *cluster, j *journal) *planner {
	return &planner{
		cluster: c, journal: j, strategy: c.cfg.Strategy, rests: rests{}, recall: recall{},
	}
}

// due returns what an iteration or an evacuation decides, if one is due; nil: nothing.
func (p *planner) due(now time.Duration) *modelChange {
	switch {
	case now >= p.next && p.cfg.Interval > 0:
		p.next = now + p.cfg.Interval
		return p.iteration(now)
	case now >= p.empty:
		return p.evacuation(now)
	}
	return nil
}

// Iteration is a strategy's proposal and its outcome.
type Iteration struct {
	// At is the mapper's time.
	At       time.Duration
	Strategy string
	Proposal balance.Proposal
	// Refused says why the proposal was refused, or why nothing was proposed.
	Refused string
	// Moves is how many moves would begin, of Items items of Weight in all.
	Moves  int
	Items  int
	Weight uint64
	// Evacuated is how many slices left nodes that drain or are lost, before the
	// strategy was asked.
	Evacuated int
}

// tolerance is how far above the mean a node may lie in LeastMove.
const tolerance = 0.1

// Plan asks the strategy what it would do now, without doing it. Errors:
// fault.Unavailable before the first plan, fault.Conflict when the mapper would
// refuse it.
func (m *Mapper) Plan(now time.Duration) (balance.Proposal, error) {
	now = m.time.at(now)
	if m.model == nil {
		return balance.Proposal{}, m.noPlan()
	}
	it, _ := m.plan.consult(m.plan.judgeNow(now), m.plan.strategy)
	if it.Refused != "" {
		return it.Proposal, fault.Newf(fault.Conflict, "balance: plan", "strategy %s: %s", it.Strategy, it.Refused)
	}
	return it.Proposal, nil
}

// Input returns what a strategy would see now, for displays of the placement. It
// must not be used after the next call of the mapper. It returns false if there
// is no model yet.
func (m *Mapper) Input(now time.Duration) (balance.Input, bool) {
	now = m.time.at(now)
	if m.model == nil {
		return balance.Input{}, false
	}
	return m.plan.judgeNow(now).in, true
}

// first makes the first model: the nodes' own tables if they tile the ring in
// one view (stores built offline), else the strategy's plan.
func (p *planner) first(now time.Duration, joined []balance.Joining, replicas int) (*balance.Model, error) {
	slices.SortFunc(joined, func(a, b balance.Joining) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	model, err := balance.Adopt(joined)
	if err == nil {
		p.adopted = true
		p.last.Proposal.Expected = load.EvennessOfWeights(model, p.items, p.limits(model))
		return model, nil
	}
	var slaves []balance.Slave
	for _, j := range joined {
		slaves = append(slaves, balance.Slave{Name: j.Name, Site: j.Site})
		if len(j.Table.Slices) > 0 {
			p.trouble(fmt.Errorf(
				"node %s holds data that is discarded because the nodes' data do not fit together: %w", j.Name, err))
		}
	}
	base, err := balance.Compose(slaves, replicas)
	if err != nil {
		return nil, err
	}
	model, proposal, err := balance.PlanOn(p.strategy, p.cfg.Order, base, p.items, p.cfg.Limits, p.timeOfDay())
	if err != nil {
		return nil, err
	}
	p.recall.keep(p.strategy.Name(), proposal.Memory)
	p.last = Iteration{At: now, Strategy: p.strategy.Name(), Proposal: proposal}
	for _, r := range proposal.Reasons {
		if r.Op >= 0 && r.Op < len(proposal.Ops) {
			r.Slice = proposal.Ops[r.Op].Slice
		}
		if r.Slice != 0 {
			p.memory.add(now, r.Slice, "the first plan, of "+p.strategy.Name()+": "+r.Text)
		}
	}
	return model, nil
}
