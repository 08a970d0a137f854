package compare

import (
	"context"
	"fmt"
	"math/rand/v2"

	"adshard/balance"
	balanceload "adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
	"adshard/bench/trace"
)

// kind is a strategy with its options.
type kind struct {
	name, setting, paper string
	options              map[string]string
}

// slicer tests what section 4.5.2 of the thesis says about Slicer: that it is more even than
// load-aware consistent hashing and moves less. It also measures what Slicer gains by
// choosing shards by their replicas. All kinds begin where plain consistent hashing has the
// items.
func (h *headlines) slicer() {
	t := spread(headlineItems)
	for _, exponent := range []float64{0.8, 1.0} {
		for _, c := range slicerKinds() {
			c.setting = fmt.Sprintf("Zipf %.1f%s", exponent, c.setting)
			h.evenAndMoved(t, c, exponent)
		}
	}
	for _, name := range []string{"weighted-move", "weighted-move-fast"} {
		for _, replication := range []string{"0", "1"} {
			row := Headline{Technique: name, Setting: "a hot item, one node of three replicas, replication " + replication, Figure: "max/mean by replicas"}
			h.each(row, false, func(seed int) (float64, error) { return replicated(h.ctx, t, name, replication, seed) })
		}
	}
}

// slicerKinds returns the strategies modelled on Slicer and the load-aware kinds, with goals
// of a tenth and a fiftieth above the mean. Slicer as published and srinivasan have no goal.
func slicerKinds() (list []kind) {
	const claim = "more even with less moved"
	for _, goal := range []struct{ above, aim string }{{"0.1", "0.05"}, {"0.02", "0.01"}} {
		setting := ", goal 1 + " + goal.above
		for _, name := range []string{"weighted-move", "weighted-move-fast"} {
			list = append(list, kind{name, setting, claim, map[string]string{"tolerance": goal.above, "aim": goal.aim}})
		}
		for _, name := range []string{"rao-pool", "cassandra"} {
			list = append(list, kind{name, setting, "", map[string]string{"delta": goal.above}})
		}
	}
	return append(list, kind{"slicer", "", claim, nil}, kind{name: "srinivasan"})
}

// shifted is the max/mean at which a strategy comes to rest, and the share of all items that
// it moved.
type shifted struct{ ratio, moved float64 }

// evenAndMoved adds the two headlines of a kind.
func (h *headlines) evenAndMoved(t *trace.Trace, c kind, exponent float64) {
	ends := make(map[int]shifted)
	of := func(figure func(shifted) float64) func(int) (float64, error) {
		return func(seed int) (float64, error) {
			end, known := ends[seed]
			if !known {
				var err error
				if end, err = shift(h.ctx, t, c, exponent, seed); err != nil {
					return 0, err
				}
				ends[seed] = end
			}
			return figure(end), nil
		}
	}
	row := Headline{Technique: c.name, Setting: c.setting, Paper: c.paper, Figure: "max/mean at the end"}
	h.each(row, false, of(func(s shifted) float64 { return s.ratio }))
	row.Figure = "items moved ÷ all"
	h.each(row, false, of(func(s shifted) float64 { return s.moved }))
}

// shift runs a kind until rest, beginning where consistent hashing has the items.
func shift(ctx context.Context, t *trace.Trace, c kind, exponent float64, seed int) (out shifted, err error) {
	_, in, err := planned(t, "consistent-random", nil, seed)
	if err != nil {
		return out, err
	}
	in.Memory = nil // it belongs to the other strategy
	s, err := strategy.Named(c.name, c.options)
	if err != nil {
		return out, err
	}
	load, moved := zipfLoad(len(t.Keys), exponent, seed), 0
	v := settling{t: t, load: load, s: s, rest: rest, seen: func(before, after Placement) {
		for i, n := range after.Owner {
			if n != before.Owner[i] {
				moved++
			}
		}
	}}
	err = v.run(ctx, &in)
	in.Loads = newLoads(t, load, in.Model)
	return shifted{balanceload.Evenness(in).Ratio(), float64(moved) / headlineItems}, err
}

// replicated returns the max/mean of load per replica at rest. One item has a fifth of the
// load of ten shards; the last shard has three replicas and not that item.
func replicated(ctx context.Context, t *trace.Trace, name, replication string, seed int) (float64, error) {
	s, err := strategy.Named(name, map[string]string{"replication": replication})
	if err != nil {
		return 0, err
	}
	shards := headlineSlaves()
	last := balance.Limit{Share: 3}
	m, p, err := plan.Initial(s, t.Order, shards, t.Index(), map[string]balance.Limit{shards[headlineShards-1].Name: last})
	if err != nil {
		return 0, err
	}
	in := balance.Input{
		Model: m, Memory: p.Memory, Items: t.Index(), Order: t.Order, Budget: balance.Budget{Share: headlineBudget},
		Limits: map[balance.ShardID]balance.Limit{headlineShards: last},
	}
	load := withHotItem(t, m, seed)
	v := settling{t: t, load: load, s: s, rest: rest}
	err = v.run(ctx, &in)
	in.Loads = newLoads(t, load, in.Model)
	return balanceload.Evenness(in).Ratio(), err
}

// withHotItem returns a load by Zipf's law (0.8) in which one item, not of the last shard,
// has a fifth of the total.
func withHotItem(t *trace.Trace, m *balance.Model, seed int) []float64 {
	load, sum := zipfLoad(len(t.Keys), 0.8, seed), 0.0
	for _, v := range load {
		sum += v
	}
	r, owner := rand.New(rand.NewPCG(uint64(seed), 3)), Place(t, m).Owner
	hot := r.IntN(len(load))
	for owner[hot] == headlineShards-1 {
		hot = r.IntN(len(load))
	}
	load[hot] = (sum - load[hot]) / 4
	return load
}
