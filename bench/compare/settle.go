package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/bench/trace"
)

const (
	// maxIterations is the number of iterations after which a strategy that does not come to
	// rest is stopped.
	maxIterations = 100
	// restTopics is the number of iterations without a proposal after which a strategy that
	// uses topics has come to rest: it takes time until topics are known, and a balancer that
	// was started again waits for a sample of ten minutes. maxTopics is the number of
	// iterations after which it is stopped.
	restTopics, maxTopics = 90, 300
)

// settling runs the iterations of a strategy on the loads of a trace; moves take no time.
type settling struct {
	t    *trace.Trace
	load []float64 // of each item
	s    balance.Strategy
	// known holds the topics that the strategy may ask for; nil if there are none.
	known *samples
	// rest is the number of iterations without a proposal after which the strategy has come to
	// rest.
	rest int
	// empties: slices leave draining shards, as a balancer would move them, before the
	// strategy is asked.
	empties bool
	// seen, if not nil, is called with each iteration's outcome.
	seen func(before, after Placement)
	// rested says whether run ended because the strategy rests.
	rested bool
	// loads holds the loads of the model that was last looked at.
	loads *loads
}

// run iterates until the strategy rests, ctx is done, or maxIterations or maxTopics is
// reached.
func (v *settling) run(ctx context.Context, in *balance.Input) error {
	begun := in.Iteration
	in.Topics = nil
	if v.known != nil {
		v.known.played = begun
		in.Topics = func() []balance.Topic { return v.known.topics(in) }
	}
	quiet, now := 0, Place(v.t, in.Model)
	for ; ; in.Iteration++ {
		if rest, most := v.patience(); quiet >= rest || int(in.Iteration-begun) >= most {
			v.rested = quiet >= rest
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		acted, err := v.iterate(in)
		if err != nil {
			return fmt.Errorf("strategy %s: %w", v.s.Name(), err)
		}
		before := now
		if quiet++; acted {
			quiet, now = 0, Place(v.t, in.Model)
		}
		if v.seen != nil {
			v.seen(before, now)
		}
	}
}

// patience returns the number of iterations without a proposal after which the strategy has
// come to rest, and the number of iterations after which it is stopped.
func (v *settling) patience() (rest, most int) {
	if v.known.asked() {
		return restTopics, maxTopics
	}
	return v.rest, maxIterations
}

// iterate runs one iteration and reports whether it did anything.
func (v *settling) iterate(in *balance.Input) (acted bool, err error) {
	in.Loads = v.loadsOf(in.Model)
	if v.known != nil {
		in.Sampled = v.known.table.Sampled()
	}
	budget := in.Budget
	defer func() { in.Budget = budget }()
	if v.empties {
		waits := false
		if acted, waits, err = v.empty(in); err != nil || waits {
			return acted, err
		}
	}
	p, err := v.s.Iterate(*in)
	if err != nil {
		return false, err
	}
	in.Memory = p.Memory
	if len(p.Ops) == 0 {
		return acted, nil
	}
	in.Model, err = in.Model.Apply(atOnce(p.Ops))
	return true, err
}

// empty moves slices off draining shards as balance.Mapper does, the most loaded first: to
// where the strategy wants them, or else to the least loaded shard. It stays within the
// budget but moves at least one slice. waits reports whether some are left for the next
// iteration.
func (v *settling) empty(in *balance.Input) (acted, waits bool, err error) {
	leaving, sums := drained(*in)
	if len(leaving) == 0 {
		return false, false, nil
	}
	wanted := make([]balance.ShardID, len(leaving))
	if r, ok := v.s.(balance.Refuge); ok {
		if list := r.Refuges(*in, leaving); len(list) == len(leaving) {
			wanted = list
		}
	}
	loads, items, weight := load.OfShards(*in), 0, uint64(0)
	var ops []balance.Op
	for i, s := range leaving {
		sum := sums[s.ID]
		share := max(float64(items+sum.Items)/float64(in.Items.Len()), float64(weight+sum.Weight)/float64(v.weight()))
		if len(ops) > 0 && in.Budget.Share > 0 && share > in.Budget.Share {
			waits = true
			continue
		}
		if wanted[i] == 0 {
			wanted[i] = coolest(in.Model, loads)
		}
		loads[wanted[i]] += sum.Load
		items, weight = items+sum.Items, weight+sum.Weight
		ops = append(ops, balance.Op{Kind: balance.OpStart, Slice: s.ID, Shard: wanted[i]})
	}
	if in.Budget.Share > 0 {
		used := max(float64(items)/float64(in.Items.Len()), float64(weight)/float64(v.weight()))
		in.Budget.Share = max(in.Budget.Share-used, 1e-9)
	}
	if in.Model, err = in.Model.Apply(atOnce(ops)); err == nil {
		in.Loads = v.loadsOf(in.Model)
	}
	return true, waits, err
}

// loadsOf returns the loads of a model's slices. Iterations that change nothing (most of
// them) share them.
func (v *settling) loadsOf(m *balance.Model) *loads {
	if v.loads == nil || v.loads.m != m {
		v.loads = newLoads(v.t, v.load, m)
	}
	return v.loads
}

func (v *settling) weight() (sum uint64) {
	for _, w := range v.t.Weights {
		sum += uint64(w)
	}
	return sum
}

// drained returns the slices of draining shards, the most loaded first, and the sums of
// each slice.
func drained(in balance.Input) (list []balance.Slice, sums map[uint64]load.SliceSum) {
	sums = make(map[uint64]load.SliceSum)
	all := load.OfSlices(in)
	for i, s := range in.Model.Slices() {
		if sh, _ := in.Model.Shard(s.Shard); sh.State == balance.Draining {
			list, sums[s.ID] = append(list, s), all[i]
		}
	}
	slices.SortStableFunc(list, func(a, b balance.Slice) int { return cmp.Compare(sums[b.ID].Load, sums[a.ID].Load) })
	return list, sums
}

// coolest returns the active shard with the least load.
func coolest(m *balance.Model, loads map[balance.ShardID]float64) (best balance.ShardID) {
	for _, sh := range m.Shards() {
		if sh.State == balance.Active && (best == 0 || loads[sh.ID] < loads[best]) {
			best = sh.ID
		}
	}
	return best
}
