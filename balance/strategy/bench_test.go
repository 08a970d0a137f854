package strategy_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
)

// snapshot holds loads as a LoadTable returns them: by slice, and of the hottest items.
type snapshot struct {
	slices map[uint64]float64
	keys   []balance.Key
	hot    []float64
}

func (s *snapshot) Slice(id uint64) float64 { return s.slices[id] }
func (s *snapshot) Measured() bool          { return true }
func (s *snapshot) Hot(lo, hi balance.Key, visit func(balance.Key, float64) bool) {
	i := sort.Search(len(s.keys), func(i int) bool { return s.keys[i] >= lo })
	for ; i < len(s.keys) && s.keys[i] <= hi; i++ {
		if !visit(s.keys[i], s.hot[i]) {
			return
		}
	}
}

// large makes 1,000,000 items of Zipf load in 100,000 slices on 1,000 shards. A tenth of the
// shards has four times as many slices as the others.
func large(b *testing.B) balance.Input {
	const shardCount, sliceCount, itemCount = 1000, 100_000, 1_000_000
	r := rand.New(rand.NewPCG(1, 1))
	index := &balance.Index{}
	keys := make([]balance.Key, itemCount)
	for i := range keys {
		keys[i], _ = balance.ByHash.Key(1, uint64(i+1))
	}
	slices.Sort(keys)
	type item struct {
		key  balance.Key
		load float64
	}
	items := make([]item, itemCount)
	for i, rank := range r.Perm(itemCount) {
		index.Put(keys[i], uint32(1+r.IntN(20)))
		items[i] = item{keys[i], 1e9 * math.Pow(float64(rank+10), -0.8)}
	}
	base, err := balance.NewModel(shards(shardCount))
	if err != nil {
		b.Fatal(err)
	}
	e, last := base.Edit(), uint64(1)
	for i := range sliceCount {
		if i > 0 {
			last, _ = e.Split(last, keys[i*(itemCount/sliceCount)])
		}
		shard := r.IntN(shardCount)
		if r.IntN(4) == 0 {
			shard = r.IntN(shardCount / 10)
		}
		if err := e.Map(last, balance.ShardID(shard+1)); err != nil {
			b.Fatal(err)
		}
	}
	in := balance.Input{Model: model(b, e), Items: index, Order: balance.ByHash, Budget: balance.Budget{Share: 0.09}}
	loads := &snapshot{slices: map[uint64]float64{}}
	all, k := in.Model.Slices(), 0
	for _, v := range items {
		for all[k].Hi < v.key {
			k++
		}
		loads.slices[all[k].ID] += v.load
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(b.load, a.load) })
	items = items[:load.MaxHot]
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	for _, v := range items {
		loads.keys, loads.hot = append(loads.keys, v.key), append(loads.hot, v.load)
	}
	in.Loads = loads
	return in
}

// BenchmarkPlan100k measures one iteration of each strategy for 1,000,000 items in 100,000
// slices on 1,000 shards. On a busy machine with 2 cores it takes 0.05 s (original), 0.45 s
// (random, 180,000 operations), 0.09 s (weighted-move) and 0.45 s (weighted-move-fast, 11,000
// operations); the bounds take 0.17 s; the heap is 0.3 GB.
func BenchmarkPlan100k(b *testing.B) {
	in := large(b)
	b.Run("bounds", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			load.LowerBound(in)
			load.LeastMove(in, 0.15)
		}
	})
	for _, name := range strategy.Names() {
		s, err := strategy.Named(name, map[string]map[string]string{"random": {"slices": "250000"}}[name])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var p balance.Proposal
			for b.Loop() {
				if p, err = s.Iterate(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(p.Ops)), "ops")
			b.ReportMetric(p.Expected.Ratio(), "max/mean")
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			b.ReportMetric(float64(stats.HeapSys)/1e6, "MB-heap")
		})
	}
}

// BenchmarkTopics measures an iteration with as many pairs as a balancer keeps, of 4,096
// topics, when nothing is spread yet.
func BenchmarkTopics(b *testing.B) {
	for _, count := range []int{30, 300} {
		r := rand.New(rand.NewPCG(1, 1))
		index, keys := &balance.Index{}, make([]balance.Key, 100_000)
		for i := range keys {
			keys[i], _ = balance.ByHash.Key(1, uint64(i+1))
			index.Put(keys[i], uint32(1+r.IntN(20)))
		}
		topics := make([]balance.Topic, 4096)
		for i := range topics {
			topics[i].Term = uint64(i)
			list := make(map[balance.Key]bool)
			for len(list) < load.MaxPairs/len(topics) {
				list[keys[r.IntN(len(keys))]] = true
			}
			for k := range list {
				topics[i].Items = append(topics[i].Items, balance.TopicItem{Key: k, Load: 1 + 9*r.Float64()})
			}
			slices.SortFunc(topics[i].Items, func(x, y balance.TopicItem) int { return cmp.Compare(x.Key, y.Key) })
		}
		s, err := strategy.Named("topics")
		if err != nil {
			b.Fatal(err)
		}
		m, _, err := plan.Initial(s, balance.ByHash, shards(count), index, nil)
		if err != nil {
			b.Fatal(err)
		}
		in := balance.Input{Model: m, Items: index, Order: balance.ByHash, Budget: balance.Budget{Share: 0.09}, Topics: func() []balance.Topic { return topics }}
		b.Run(fmt.Sprintf("%d shards", count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, err := s.Iterate(in); err != nil || len(p.Ops) == 0 {
					b.Fatal(err, p.Reasons)
				}
			}
		})
	}
}
