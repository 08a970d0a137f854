package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"adshard/balance"
	balanceload "adshard/balance/load"
	"adshard/balance/strategy"
	"adshard/bench/measure"
	"adshard/bench/trace"
)

// Iteration is what one iteration of a strategy takes.
type Iteration struct {
	Strategy string `json:"strategy"`
	// Seconds are of processor time, those of the collector included: the median of
	// iterationRuns, and the extremes.
	Seconds float64 `json:"seconds"`
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	// Allocated is in bytes, for one iteration; Remembered is the strategy's memory
	// in bytes, Ops how many operations it proposed.
	Allocated  float64 `json:"allocated"`
	Remembered int     `json:"remembered"`
	Ops        int     `json:"ops"`
}

// size is that of an iteration that is measured: items in slices of as many items each.
type size struct{ items, slices, shards int }

// The sizes of an iteration that is measured; each owner has iterationOwned items.
const (
	iterationItems  = 1_000_000
	iterationSlices = 100_000
	iterationShards = 1000
	iterationRuns   = 5
	iterationOwned  = 10
)

// Iterations measures one iteration of strategies: a million items with loads by Zipf's law
// (0.8) in 100,000 slices of as many items each, on 1,000 shards at random, in the order by
// hash; by advertiser, ten items each, for those that need that. It is the first iteration of
// each: a strategy with a layout of its own begins to move towards it.
func Iterations(ctx context.Context, own Own, names []string, progress func(string)) (list []Iteration, err error) {
	return iterations(ctx, own, names, size{iterationItems, iterationSlices, iterationShards}, progress)
}

func iterations(ctx context.Context, own Own, names []string, of size, progress func(string)) (list []Iteration, err error) {
	made := make(map[balance.Order]balance.Input)
	for _, name := range names {
		order := balance.ByHash
		if !own.Has(name) && strategy.CheckOrder(name, order) != nil {
			order = balance.ByOwner
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress("one iteration, " + name)
		in, ok := made[order]
		if !ok {
			if in, err = crowd(order, of); err != nil {
				return nil, err
			}
			made[order] = in
		}
		one, err := iterated(own, name, in)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// iterated measures one strategy.
func iterated(own Own, name string, in balance.Input) (out Iteration, err error) {
	s, err := own.Named(name)
	if err != nil {
		return out, err
	}
	if in, err = atNight(s, in); err != nil {
		return out, err
	}
	out.Strategy = name
	var took, allocated []float64
	for range iterationRuns {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := measure.CPUTime()
		p, err := s.Iterate(in)
		took = append(took, (measure.CPUTime() - began).Seconds())
		if err != nil {
			return out, fmt.Errorf("strategy %s: %w", name, err)
		}
		runtime.ReadMemStats(&after)
		allocated = append(allocated, float64(after.TotalAlloc-before.TotalAlloc))
		out.Remembered, out.Ops = len(p.Memory), len(p.Ops)
	}
	slices.Sort(took)
	slices.Sort(allocated)
	out.Seconds, out.Least, out.Most = took[len(took)/2], took[0], took[len(took)-1]
	out.Allocated = allocated[len(allocated)/2]
	return out, nil
}

// atNight is the input of the strategy original in its first night, in which it plans; by
// day it only sees that it is day. For others it is the same input.
func atNight(s balance.Strategy, in balance.Input) (balance.Input, error) {
	if _, ok := s.(strategy.Original); !ok {
		return in, nil
	}
	in.Time = time.Unix(0, 0).Add(12 * time.Hour)
	p, err := s.Iterate(in)
	if err != nil {
		return in, fmt.Errorf("strategy %s: %w", s.Name(), err)
	}
	in.Memory, in.Time = p.Memory, in.Time.Add(16*time.Hour)
	return in, nil
}

// ofOwners makes n items of equal weight, iterationOwned of each owner.
func ofOwners(n int) (*trace.Trace, error) {
	t := &trace.Trace{Order: balance.ByOwner}
	for i := range n {
		k, err := balance.ByOwner.Key(uint64(i/iterationOwned+1), uint64(i+1))
		if err != nil {
			return nil, err
		}
		t.Keys = append(t.Keys, k)
	}
	slices.Sort(t.Keys)
	t.Weights = slices.Repeat([]uint32{1}, n)
	return t, nil
}

// crowd makes an input of items on shards.
func crowd(order balance.Order, of size) (in balance.Input, err error) {
	t := spread(of.items)
	if order == balance.ByOwner {
		if t, err = ofOwners(of.items); err != nil {
			return in, err
		}
	}
	load, r := make([]float64, of.items), rand.New(rand.NewPCG(1, 1))
	for i, rank := range r.Perm(of.items) {
		load[i] = math.Pow(float64(rank+1), -0.8)
	}
	shards := make([]balance.Shard, of.shards)
	for i := range shards {
		shards[i].Name = fmt.Sprintf("slave-%d", i)
	}
	m, err := balance.NewModel(shards)
	if err != nil {
		return balance.Input{}, err
	}
	e, last := m.Edit(), m.Slices()[0].ID
	for i := range of.slices {
		if i > 0 && err == nil {
			last, err = e.Split(last, t.Keys[i*(of.items/of.slices)])
		}
		if err == nil {
			err = e.Map(last, balance.ShardID(r.IntN(of.shards)+1))
		}
	}
	if err == nil {
		m, err = e.Model()
	}
	if err != nil {
		return balance.Input{}, err
	}
	l := newLoads(t, load, m)
	l.least = hot(load, balanceload.MaxHot)
	return balance.Input{
		Model: m, Items: t.Index(), Order: t.Order, Loads: l, Iteration: 1, Time: time.Unix(0, 0),
		Budget: balance.Budget{Share: studyBudget},
	}, nil
}

// hot is the load above which there are fewer than n.
func hot(load []float64, n int) float64 {
	if len(load) <= n {
		return 0
	}
	sorted := slices.Clone(load)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	return sorted[n]
}
