package mapper_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/balance/mapper"
	"adshard/balance/strategy"
)

// TestTheFirstPlanIsNotFinal tests that a plan without items divides the ring, and that items
// that come later are moved, by weight until load is measured.
func TestTheFirstPlanIsNotFinal(t *testing.T) {
	s, err := strategy.Named("weighted-move")
	if err != nil {
		t.Fatal(err)
	}
	empty := &rig{t: t, index: &balance.Index{}, mute: map[string]bool{}, cfg: cluster.Config{
		Epoch: 1, Slaves: 4, Order: balance.ByHash, Strategy: s, Interval: rigInterval,
	}}
	empty.start()
	for _, n := range []string{"a", "b", "c", "d"} {
		empty.must(empty.m.Join(0, balance.Joining{Name: n}))
	}
	empty.carry()
	empty.ackAll()
	serve := map[balance.ShardID]bool{}
	for _, s := range empty.m.Model().Slices() {
		serve[s.Shard] = true
	}
	if len(serve) != 4 {
		t.Errorf("%d of 4 slaves serve a part of the ring", len(serve))
	}
	for n := uint64(1); n <= 4000; n++ { // all are in the first quarter of the ring
		empty.clock++
		k := balance.Key(n << 50)
		empty.m.Changes(empty.now, []balance.Change{{Clock: empty.clock, Key: k}})
		empty.m.Weigh(k, 10)
	}
	before := empty.m.Status(empty.now).Even.Ratio()
	for range 40 {
		empty.pass(2 * time.Second)
		empty.through()
	}
	after := empty.m.Status(empty.now)
	if before < 3.5 || after.Even.Ratio() > 1.2 {
		t.Errorf("max/mean %.3g, then %.3g (bound %.3g); %+v", before, after.Even.Ratio(), after.Bound.MaxOverMean, after.Last)
	}
}

// The size of the benchmarks.
const benchShards, benchSlices, benchItems = 1000, 100_000, 1_000_000

// BenchmarkIteration measures an iteration of a mapper at full size: the strategy, another one
// in shadow, the bounds, the check, the new model and its encoding, and, once it is durable,
// the beginning of its moves.
func BenchmarkIteration(b *testing.B) {
	other, err := strategy.Named("random")
	if err != nil {
		b.Fatal(err)
	}
	for name, shadows := range map[string][]balance.Strategy{
		"weighted-move": nil, "weighted-move-fast": nil, "weighted-move, random in shadow": {other},
	} {
		b.Run(name, func(b *testing.B) {
			s, err := strategy.Named(strings.Split(name, ",")[0])
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			ops := 0
			for b.Loop() {
				b.StopTimer()
				m := large(b, shadows)
				b.StartTimer()
				m.Use(0, s)
				out := m.Out()
				if out.Save == nil {
					b.Fatalf("nothing was planned: %+v", out)
				}
				m.Saved(0, out.Save.Seq)
				ops = len(m.Out().Quanta[0].Ops)
			}
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			b.ReportMetric(float64(ops), "ops")
			b.ReportMetric(float64(stats.HeapSys)/1e6, "MB-heap")
		})
	}
}

// large returns a mapper at full size before its first iteration. A tenth of the slaves have
// three times the load of the others.
func large(b *testing.B, shadows []balance.Strategy) *mapper.Mapper {
	index := &balance.Index{}
	for i := range balance.Key(benchItems) {
		index.Put((balance.MaxKey/benchItems)*i+1, 10)
	}
	m, err := mapper.New(cluster.Config{
		Epoch: 1, Slaves: benchShards, Order: balance.ByHash, Interval: rigInterval, Shadows: shadows,
		Budget:      balance.Budget{Share: cluster.DefaultBudget},
		LoadWeights: load.Weights{Micros: 1},
		Strategy:    stubborn{initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, benchSlices) }},
	}, index, nil)
	if err != nil {
		b.Fatal(err)
	}
	m.Loaded(0, 1)
	for i := range benchShards {
		if err := m.Join(0, balance.Joining{Name: fmt.Sprint("s", i)}); err != nil {
			b.Fatal(err)
		}
	}
	saved(m, 0)
	costs := map[balance.ShardID][]load.SliceCost{}
	for i, s := range m.Model().Slices() {
		cost := load.Cost{Micros: uint64(1000 + 100*(i%7))}
		if s.Shard%10 == 0 {
			cost.Micros *= 3
		}
		costs[s.Shard] = append(costs[s.Shard], load.SliceCost{Slice: s.ID, Generation: s.Generation, Cost: cost})
	}
	for i, sh := range m.Model().Shards() {
		r := &load.Report{Incarnation: "1", Number: 1, Interval: time.Second, Queries: 1000, Slices: costs[sh.ID]}
		for j := range 40 {
			k := (balance.MaxKey/benchItems)*balance.Key(i*1000+j*20) + 1
			r.Items = append(r.Items, load.ItemCost{Key: k, Cost: load.Cost{Micros: 300}})
		}
		if err := m.Report(0, mapper.SlaveReport{Name: sh.Name, Incarnation: "1", Load: r}); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

// TestAStrategyWaitsForWhatMustMove: while a slave is emptied, a strategy does not use up the
// budget that the slave's slices need.
func TestAStrategyWaitsForWhatMustMove(t *testing.T) {
	var r *rig
	asked, leaves := 0, false
	r = newRig(t, 60, func(c *cluster.Config) {
		c.Interval, c.Budget, c.Linger = time.Second, balance.Budget{Share: 0.02}, 100*time.Millisecond
		c.Strategy = stubborn{
			initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 60) },
			iterate: func(in balance.Input) (balance.Proposal, error) {
				if leaves {
					asked++
				}
				return balance.Proposal{}, nil
			},
		}
	}, "a", "b", "c")
	r.must(r.m.Drain(r.now, "c"))
	r.carry()
	leaves = true
	for range 1000 {
		r.live(200 * time.Millisecond)
		sh, _ := r.m.Model().Named("c")
		left := 0
		for _, s := range r.m.Model().Slices() {
			if s.Shard == sh.ID && s.Move.Phase == balance.NoMove {
				left++
			}
		}
		if left == 0 {
			break
		}
		if asked > 0 {
			t.Fatalf("a strategy was asked while %d slices wait", left)
		}
	}
	if r.live(5 * time.Second); asked == 0 {
		t.Error("no strategy is asked any more")
	}
}
