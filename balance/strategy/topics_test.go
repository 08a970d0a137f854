package strategy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
)

// asked is a world of queries with one topic each: which items a topic has, and how often it is
// asked for.
type asked struct {
	t      *testing.T
	rand   *rand.Rand
	keys   []balance.Key
	topics [][]int
	rate   []float64
	sums   []float64
	table  *load.Table
	number uint64
}

// samplesASecond is the largest number of pairs that a slave reports per second.
const samplesASecond = 64

// newAsked makes topics of 12 to 60 items; items of one advertiser have topics in common.
func newAsked(t *testing.T, order balance.Order) (*asked, *balance.Index) {
	const items, topics = 1200, 100
	a := &asked{t: t, rand: rand.New(rand.NewPCG(3, 3)), table: load.NewTable(load.Weights{Examined: 1}, 0)}
	index := &balance.Index{}
	for i := range items {
		k, err := order.Key(uint64(i/30+1), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		a.keys = append(a.keys, k)
		index.Put(k, uint32(1+a.rand.IntN(10)))
	}
	sum := 0.0
	for i := range topics {
		var list []int
		advertiser := a.rand.IntN(items / 30)
		for range 12 + a.rand.IntN(49) {
			item := a.rand.IntN(items)
			if a.rand.IntN(3) == 0 {
				item = advertiser*30 + a.rand.IntN(30)
			}
			list = append(list, item)
		}
		slices.Sort(list)
		a.topics = append(a.topics, slices.Compact(list))
		a.rate = append(a.rate, 1/float64(1+i/4))
		sum += a.rate[i]
		a.sums = append(a.sums, sum)
	}
	return a, index
}

// loads returns the cost of each item per second, for a thousand queries.
func (a *asked) loads() map[balance.Key]float64 {
	out := make(map[balance.Key]float64)
	for i, list := range a.topics {
		for _, item := range list {
			out[a.keys[item]] += 1000 * a.rate[i] / a.sums[len(a.sums)-1]
		}
	}
	return out
}

// excess is the slow oracle: each query is asked of all shards, one item after another, and its
// slowest shard is compared with the least that any placement could have. It returns the median
// over queries of how far above that the slowest shard is.
func (a *asked) excess(m *balance.Model) float64 {
	type one struct{ excess, rate float64 }
	var all []one
	for i, list := range a.topics {
		at := make(map[balance.ShardID]int)
		most := 0
		for _, item := range list {
			shard := m.At(a.keys[item]).Shard
			at[shard]++
			most = max(most, at[shard])
		}
		bound := max(1, float64(len(list))/float64(len(m.Shards())))
		all = append(all, one{float64(most)/bound - 1, a.rate[i]})
	}
	slices.SortFunc(all, func(x, y one) int {
		if x.excess < y.excess {
			return -1
		}
		return 1
	})
	sum := 0.0
	for _, v := range all {
		if sum += v.rate; sum >= a.sums[len(a.sums)-1]/2 {
			return v.excess
		}
	}
	return 0
}

// second samples 200 queries, one item in four, and reports the samples to the table; slaves
// report only some of them.
func (a *asked) second(m *balance.Model) {
	a.number++
	told := make(map[balance.ShardID][]load.PairCost)
	for range 200 {
		at := a.rand.Float64() * a.sums[len(a.sums)-1]
		topic, _ := slices.BinarySearch(a.sums, at)
		for _, item := range a.topics[topic] {
			if a.rand.IntN(4) == 0 {
				k := a.keys[item]
				shard := m.At(k).Shard
				told[shard] = append(told[shard], load.PairCost{Term: uint64(topic), Key: k, Cost: load.Cost{Examined: 4}})
			}
		}
	}
	for _, sh := range m.Shards() {
		list := told[sh.ID]
		a.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		seen := len(list)
		list = list[:min(len(list), samplesASecond)]
		for i := range list {
			list[i].Examined = list[i].Examined * uint64(seen) / uint64(len(list))
		}
		r := &load.Report{Incarnation: "x", Number: a.number, Interval: 1e9, Queries: 200, Pairs: list}
		if why := a.table.Report(0, sh.ID, m, r); why != "" {
			a.t.Fatal(why)
		}
	}
}

// loop returns a loop whose strategy sees the table's topics.
func (a *asked) loop(m *balance.Model, index *balance.Index, order balance.Order) *loop {
	l := newLoop(a.t, m, index, a.loads())
	l.order = order
	l.sampled = func() time.Duration { return a.table.Sampled() }
	l.topics = func() []balance.Topic {
		for range l.interval {
			a.second(l.m)
		}
		a.table.Model(l.m, l.items)
		return a.table.HotTopics()
	}
	return l
}

// TestTopicsAreSpread: from what slaves sample, in both orders of keys, the slowest shard of
// most queries gets closer to the least that it can have than with random placement, while the
// load stays in band. Then the strategy rests, and new samples of the same queries move next to
// nothing. The same is true for a balancer that is started again and knows no topics at first.
func TestTopicsAreSpread(t *testing.T) {
	s, err := strategy.Named("topics")
	if err != nil {
		t.Fatal(err)
	}
	for order, count := range map[balance.Order]int{balance.ByHash: 8, balance.ByOwner: 3} {
		t.Run(fmt.Sprintf("%s, %d shards", order, count), func(t *testing.T) {
			a, index := newAsked(t, order)
			m, _, err := plan.Initial(s, order, shards(count), index, nil)
			if err != nil {
				t.Fatal(err)
			}
			l := a.loop(m, index, order)
			before := a.excess(m)
			var moved []float64
			for range 80 {
				l.iterate(s)
				moved = append(moved, l.moved)
			}
			after, load := a.excess(l.m), load.Evenness(l.truth()).Ratio()
			late := moved[79] - moved[49]
			t.Logf("excess %.3f, then %.3f; max/mean %.3f; moved %.2f of all, %.3f of it late; %d slices",
				before, after, load, l.moved, late, len(l.m.Slices()))
			if after > 0.75*before {
				t.Errorf("the median excess is %.3f, at random it is %.3f", after, before)
			}
			if load > 1.12 {
				t.Errorf("max/mean is %.3f", load)
			}
			if l.moved > 1.2 || late > 0.05 {
				t.Errorf("%.2f of all has moved, %.3f of it when it should rest", l.moved, late)
			}
			a.restart(l, s, order)
		})
	}
}

// restart checks that a balancer that is started again leaves the spread topics where they are.
// Without its memory, the strategy would move a quarter of everything because of what it learns
// first.
func (a *asked) restart(l *loop, s balance.Strategy, order balance.Order) {
	for range 50 { // the strategy is to remember how long topics were known, ten minutes in total
		l.iterate(s)
	}
	settled, memory, excess := l.m, l.memory, a.excess(l.m)
	again := func(memory []byte, iterations int) (moved float64) {
		a.table = load.NewTable(load.Weights{Examined: 1}, 0)
		l = a.loop(settled, l.items, order)
		l.memory = memory
		for range iterations {
			l.iterate(s)
		}
		return l.moved
	}
	without := again(nil, 12)
	worse := a.excess(l.m)
	with := again(memory, 140)
	a.t.Logf("started again: %.3f of all moves, %.3f without the %d bytes; excess %.3f, then %.3f, or %.3f without", with, without, len(memory), excess, a.excess(l.m), worse)
	if with > 0.03 || without < 0.15 {
		a.t.Errorf("%.3f of all moves after a restart, %.3f if nothing is remembered", with, without)
	}
	if worse := a.excess(l.m) - excess; worse > 0.02 {
		a.t.Errorf("the median excess is %.3f more than before", worse)
	}
}

// TestManyTopics: a hundred thousand topics on a thousand shards take a bounded part of the
// memory that one cell for each pair would take.
func TestManyTopics(t *testing.T) {
	s, err := strategy.Named("topics")
	if err != nil {
		t.Fatal(err)
	}
	index := &balance.Index{}
	var keys []balance.Key
	for i := range 2000 {
		k, _ := balance.ByHash.Key(1, uint64(i+1))
		index.Put(k, 1)
		keys = append(keys, k)
	}
	slices.Sort(keys)
	m, _, err := plan.Initial(s, balance.ByHash, shards(1000), index, nil)
	if err != nil {
		t.Fatal(err)
	}
	topics := make([]balance.Topic, 100_000)
	for i := range topics {
		at := i % (len(keys) - 1)
		topics[i] = balance.Topic{Term: uint64(i), Items: []balance.TopicItem{{Key: keys[at], Load: 1}, {Key: keys[at+1], Load: 1}}}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := s.Iterate(balance.Input{Model: m, Items: index, Order: balance.ByHash, Topics: func() []balance.Topic { return topics }})
	runtime.ReadMemStats(&after)
	if err != nil || len(p.Reasons) == 0 {
		t.Fatal(p, err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
		t.Errorf("an iteration allocates %d MB", took)
	}
}
