package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
)

// Planner decides which slices are to move. Once per interval it asks the strategy, and in
// between it empties shards that drain or are lost. It reads the cluster but does not change it:
// its decision is a change, which the mapper makes durable.
//
// It guarantees that moves stay within the budget and go only to shards that may take the
// slices. It also guarantees that keys do not come back to a shard that they left a moment ago,
// unless their load has changed. Only slices that must leave their shard may exceed the budget,
// one at a time.
type Planner struct {
	*cluster.Cluster
	*cluster.Journal
	strategy balance.Strategy
	rests    rests
	recall   recall // the memories of strategies

	next       time.Duration // when the next iteration is due
	empty      time.Duration // when shards that drain or are lost are emptied further
	iterations uint64
	idle       uint64        // number of consecutive iterations that moved nothing
	since      time.Duration // when the first of these was made
	last       Iteration
	shadows    []Shadow
	bound      load.Bound
	leastMove  uint64
	leastShare float64
	adopted    bool
	drained    []balance.ShardID // shards that have no slices left
	forgot     bool              // a strategy's memory was dropped, and that is not durable yet
	refused    uint64            // number of the strategy's proposals that were refused
}

// New returns a planner with the strategy of the cluster's configuration.
func New(c *cluster.Cluster, j *cluster.Journal) *Planner {
	return &Planner{
		Cluster: c, Journal: j, strategy: c.Config.Strategy, rests: rests{}, recall: recall{},
	}
}

// ItemsLoaded makes the first iteration begin one interval after the items were loaded.
func (p *Planner) ItemsLoaded(now time.Duration) {
	p.next, p.empty = now+p.Config.Interval, now+emptyPace
}

// Use switches to another strategy. The new strategy begins without memory, and the old one
// loses its own.
func (p *Planner) Use(now time.Duration, s balance.Strategy) {
	for _, name := range []string{p.strategy.Name(), s.Name()} {
		p.forgot = p.recall.keep(name, nil) || p.forgot
	}
	p.strategy = s
	p.next, p.idle = now, 0
}

// Resume takes the memories of strategies that were saved with the model.
func (p *Planner) Resume(saved []balance.StrategyMemory) {
	p.recall = newRecall(saved, p.strategy.Name())
}

// Unsaved reports whether memories have changed and are not durable yet.
func (p *Planner) Unsaved() bool { return p.forgot }

// Save returns the memories of strategies, and treats them as saved.
func (p *Planner) Save() []balance.StrategyMemory {
	p.forgot = false
	return p.recall.list(p.strategy.Name())
}

// EmptyAt sets when shards that drain or are lost are emptied further.
func (p *Planner) EmptyAt(now time.Duration) { p.empty = now }

// StateChanged makes the planner take account of a shard's new state at once.
func (p *Planner) StateChanged(now time.Duration, id balance.ShardID, s balance.ShardState) {
	p.next, p.empty = min(p.next, now), now
	if s == balance.Active {
		p.Removed(id)
	}
}

// Removed forgets which keys must stay away from a shard.
func (p *Planner) Removed(id balance.ShardID) { delete(p.rests, id) }

// StayAway makes keys stay away from a shard for some time.
func (p *Planner) StayAway(id balance.ShardID, r cluster.Rest) { p.rests.add(id, r) }

// TakeDrained returns the shards that have no slices left. Each is returned once.
func (p *Planner) TakeDrained() []balance.ShardID {
	list := p.drained
	p.drained = nil
	return list
}

// Status says how even the load is, as far as the planner knows, and what the planner does about
// it.
type Status struct {
	Strategy string
	// Adopted is set if the first model was made from the tables of the slaves.
	Adopted bool
	// Even says how evenly the load is spread now. If the load is not Measured, it is about the
	// items' weights.
	Measured bool
	Even     balance.Evenness
	// NoQueries is set if there was load before and queries have stopped. All loads are zero
	// then.
	NoQueries bool
	// Few is Input.Few.
	Few string
	// Bound is the best that any placement can reach. LeastMove is the least weight that any
	// plan must move to get every shard below 1.1 times the mean, or to the bound if that is
	// higher. LeastShare is the same as a share of all weight.
	Bound      load.Bound
	LeastMove  uint64
	LeastShare float64
	// Refused is the number of the strategy's proposals that were refused.
	Refused uint64
	// Last is the last iteration. Shadows says what the other strategies would do.
	Last    Iteration
	Shadows []Shadow
	// Iterations is the number of iterations. The last Idle of them moved nothing, the first of
	// these at IdleSince.
	Iterations, Idle uint64
	IdleSince        time.Duration `json:"-"`
}

// Status returns the present status, and the load of each shard.
func (p *Planner) Status(now time.Duration) (Status, map[balance.ShardID]float64) {
	s := Status{
		Strategy: p.strategy.Name(), Adopted: p.adopted, Bound: p.bound, LeastMove: p.leastMove, LeastShare: p.leastShare,
		Last: p.last, Shadows: slices.Clone(p.shadows), Iterations: p.iterations, Idle: p.idle, IdleSince: p.since, Refused: p.refused,
	}
	if p.Model == nil {
		return s, nil
	}
	in := balance.Input{Model: p.Model, Items: p.Items, Limits: p.Limits(p.Model)}
	p.addLoads(&in, now)
	s.NoQueries, s.Few = in.NoQueries, p.Loads.Few(p.Asked(now))
	loads := load.OfShards(in)
	s.Measured, s.Even = in.Measured(), load.EvennessOf(p.Model, loads, in.Limits)
	if s.Bound.MaxOverMean == 0 || s.NoQueries { // the bound of the last iteration may be based on loads
		s.Bound = load.LowerBound(in)
		s.LeastMove, s.LeastShare = load.LeastMove(in, tolerance)
	}
	return s, loads
}

// Propose returns what the strategy would do now.
func (p *Planner) Propose(now time.Duration) Iteration {
	it, _ := p.consult(p.judgeNow(now), p.strategy)
	return it
}

// Input returns the input that a strategy would get now.
func (p *Planner) Input(now time.Duration) balance.Input { return p.judgeNow(now).in }

// Refuses returns why a slice cannot move to a shard at all, or "" if it can.
func (p *Planner) Refuses(now time.Duration, s balance.Slice, to balance.ShardID) string {
	j := p.judgeNow(now)
	return j.refuses(s, to, j.weigh(s).Weight)
}

// Due returns the change that an iteration or an evacuation decides on, or nil if none is due or
// nothing changes.
func (p *Planner) Due(now time.Duration) *cluster.Change {
	switch {
	case now >= p.next && p.Config.Interval > 0:
		p.next = now + p.Config.Interval
		return p.iteration(now)
	case now >= p.empty:
		return p.evacuation(now)
	}
	return nil
}

// Iteration is a strategy's proposal and what became of it.
type Iteration struct {
	// At is the mapper's time.
	At       time.Duration
	Strategy string
	Proposal balance.Proposal
	// Refused says why the proposal was refused, or why nothing was proposed.
	Refused string
	// Moves is the number of moves that the proposal begins. They move Items items with a total
	// weight of Weight.
	Moves  int
	Items  int
	Weight uint64
	// Evacuated is the number of slices that began to leave shards that drain or are lost,
	// before the strategy was asked.
	Evacuated int
}

// tolerance is how far above the mean a shard may be for LeastMove.
const tolerance = 0.1

// First makes the first model: from the slaves' tables if they tile the ring in one view (stores
// built offline), otherwise by the strategy.
func (p *Planner) First(now time.Duration, joined []balance.Joining, replicas int) (*balance.Model, error) {
	slices.SortFunc(joined, func(a, b balance.Joining) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	model, err := balance.Adopt(joined)
	if err == nil {
		p.adopted = true
		p.last.Proposal.Expected = load.EvennessOfWeights(model, p.Items, p.Limits(model))
		return model, nil
	}
	var slaves []balance.Slave
	for _, j := range joined {
		slaves = append(slaves, balance.Slave{Name: j.Name, Site: j.Site})
		if len(j.Table.Slices) > 0 {
			p.Trouble(fmt.Errorf(
				"slave %s holds data that is discarded because the slaves' data do not fit together: %w", j.Name, err))
		}
	}
	base, err := balance.Compose(slaves, replicas)
	if err != nil {
		return nil, err
	}
	model, proposal, err := InitialOn(p.strategy, p.Config.Order, base, p.Items, p.Config.Limits, p.TimeOfDay())
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
			p.Memory.Add(now, r.Slice, "the first plan, of "+p.strategy.Name()+": "+r.Text)
		}
	}
	return model, nil
}

// emptyPace is the time between two evacuations of shards that drain or are lost, unless all
// moves end earlier.
const emptyPace = cluster.DefaultInterval
