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

// Iteration is the cost of one iteration of a strategy.
type Iteration struct {
	Strategy string `json:"strategy"`
	// Seconds is processor time, including the garbage collector's: the median of iterationRuns.
	// Least and Most are the extremes.
	Seconds float64 `json:"seconds"`
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	// Allocated is the number of bytes allocated in one iteration, Remembered the size of the
	// strategy's memory in bytes, Ops the number of operations it proposed.
	Allocated  float64 `json:"allocated"`
	Remembered int     `json:"remembered"`
	Ops        int     `json:"ops"`
}

// size is the size of a measured iteration. All slices have the same number of items.
type size struct{ items, slices, shards int }

// The sizes of a measured iteration; each owner has iterationOwned items.
const (
	iterationItems  = 1_000_000
	iterationSlices = 100_000
	iterationShards = 1000
	iterationRuns   = 5
	iterationOwned  = 10
)

// Iterations measures one iteration of each strategy: a million items with loads by Zipf's
// law (0.8) in 100,000 slices of equally many items, on 1,000 shards at random, in the order
// by hash (or by advertiser, with ten items each, for strategies that need it). It is each
// strategy's first iteration: one with its own layout begins to move towards it.
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

// atNight returns the input of the strategy original in its first night, when it plans; by
// day it does nothing else but check the time. For other strategies it returns in unchanged.
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

// ofOwners makes n items of equal weight; each owner has iterationOwned of them.
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

// crowd makes the input of a strategy: items spread over shards.
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

// hot returns a load that fewer than n items exceed.
func hot(load []float64, n int) float64 {
	if len(load) <= n {
		return 0
	}
	sorted := slices.Clone(load)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	return sorted[n]
}
