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
	"adshard/balance/strategy"
	"adshard/bench/measure"
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

// The sizes of an iteration that is measured.
const (
	iterationItems  = 1_000_000
	iterationSlices = 100_000
	iterationNodes  = 1000
	iterationRuns   = 5
)

// Iterations measures one iteration of strategies in the order by hash: a million
// items with loads by Zipf's law (0.8) in 100,000 slices of as many items each, on
// 1,000 nodes at random. It is each one's first iteration: one with a layout of its
// own begins to move there.
func Iterations(ctx context.Context, own Own, names []string, progress func(string)) (list []Iteration, err error) {
	in, err := crowd(iterationItems, iterationSlices, iterationNodes)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !own.Has(name) && strategy.CheckOrder(name, balance.ByHash) != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress("one iteration, " + name)
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

// crowd makes an input of items on nodes.
func crowd(items, sliceCount, nodeCount int) (balance.Input, error) {
	t := spread(items)
	load, r := make([]float64, items), rand.New(rand.NewPCG(1, 1))
	for i, rank := range r.Perm(items) {
		load[i] = math.Pow(float64(rank+1), -0.8)
	}
	nodes := make([]balance.Node, nodeCount)
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("slave-%d", i)
	}
	m, err := balance.NewModel(nodes)
	if err != nil {
		return balance.Input{}, err
	}
	e, last := m.Edit(), m.Slices()[0].ID
	for i := range sliceCount {
		if i > 0 && err == nil {
			last, err = e.Split(last, t.Keys[i*(items/sliceCount)])
		}
		if err == nil {
			err = e.Map(last, balance.NodeID(r.IntN(nodeCount)+1))
		}
	}
	if err == nil {
		m, err = e.Model()
	}
	if err != nil {
		return balance.Input{}, err
	}
	l := newLoads(t, load, m)
	l.least = hot(load, balance.MaxHot)
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
