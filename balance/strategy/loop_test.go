package strategy_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adshard/balance"
	loads "adshard/balance/load"
)

// loop runs a strategy with a synthetic load: every second, each shard reports what its slices
// and its hottest items cost; in each interval the strategy is asked once; what it starts is
// switched and finished some intervals later.
type loop struct {
	t        testing.TB
	m        *balance.Model
	items    *balance.Index
	order    balance.Order
	limits   map[balance.ShardID]balance.Limit
	loads    map[balance.Key]float64 // per second
	table    *loads.Table
	number   uint64
	rand     *rand.Rand
	noise    float64 // of each item's load in each second, as a fraction
	interval int     // in seconds
	budget   float64

	started   int
	moved     float64 // as a fraction of all weight
	weight    float64
	last      balance.Proposal
	memory    []byte // of the strategy
	topics    func() []balance.Topic
	sampled   func() time.Duration
	takes     uint64            // intervals that a move takes
	due       map[uint64]uint64 // by moving slice: the iteration after which the move ends
	iteration uint64
	// left holds, by shard, what left it and when. With rests, it may not return for ten
	// iterations.
	rests bool
	left  map[balance.ShardID][]restPart
}

// restPart is a range of keys that has left a shard.
type restPart struct {
	balance.Interval
	at uint64
}

// hotReported is the number of items that a shard reports.
const hotReported = 256

func newLoop(t testing.TB, m *balance.Model, items *balance.Index, of map[balance.Key]float64) *loop {
	l := &loop{
		t: t, m: m, items: items, loads: of, interval: 5, due: map[uint64]uint64{}, budget: 0.09, order: balance.ByHash,
		table: loads.NewTable(loads.Weights{Examined: 1}, 10*time.Second), rand: rand.New(rand.NewPCG(1, 2)), left: map[balance.ShardID][]restPart{},
	}
	items.Ascend(0, balance.MaxKey, func(_ balance.Key, w uint32) bool { l.weight += float64(w); return true })
	return l
}

// seconds makes every shard report for the given number of seconds. Without noise, all reports
// are the same.
func (l *loop) seconds(count int) {
	var reports map[balance.ShardID]*loads.Report
	for range count {
		if l.number++; reports == nil || l.noise > 0 {
			reports = l.reports()
		}
		for _, sh := range l.m.Shards() {
			reports[sh.ID].Number = l.number
			if why := l.table.Report(0, sh.ID, l.m, reports[sh.ID]); why != "" {
				l.t.Fatal(why)
			}
		}
	}
}

// reports returns each shard's report for a second.
func (l *loop) reports() map[balance.ShardID]*loads.Report {
	reports := map[balance.ShardID]*loads.Report{}
	for _, sh := range l.m.Shards() {
		reports[sh.ID] = &loads.Report{Incarnation: "x", Interval: time.Second}
	}
	all, i := l.m.Slices(), 0
	sums := make([]float64, len(all))
	l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		for all[i].Hi < k {
			i++
		}
		load := l.loads[k]
		if l.noise > 0 {
			load *= 1 + l.noise*(2*l.rand.Float64()-1)
		}
		sums[i] += load
		r := reports[all[i].Shard]
		r.Items = append(r.Items, loads.ItemCost{Key: k, Cost: loads.Cost{Examined: uint64(load)}})
		return true
	})
	for i, s := range all {
		if r := reports[s.Shard]; sums[i] > 0 {
			r.Slices = append(r.Slices, loads.SliceCost{Slice: s.ID, Generation: s.Generation, Cost: loads.Cost{Examined: uint64(sums[i])}})
		}
	}
	for _, r := range reports {
		slices.SortFunc(r.Items, func(a, b loads.ItemCost) int { return cmp.Compare(b.Examined, a.Examined) })
		r.Items = r.Items[:min(len(r.Items), hotReported)]
	}
	return reports
}

// input returns what the strategy would see now.
func (l *loop) input() balance.Input {
	l.iteration++
	in := balance.Input{
		Model: l.m, Items: l.items, Order: l.order, Limits: l.limits, Iteration: l.iteration,
		Loads: l.table.At(0, l.m, l.items), Budget: balance.Budget{Share: l.budget}, Memory: l.memory, Topics: l.topics,
	}
	if l.sampled != nil {
		in.Sampled = l.sampled()
	}
	if l.rests {
		in.May = l.may
	}
	return in
}

// may keeps slices away from shards that they left, as the mapper does.
func (l *loop) may(slice uint64, to balance.ShardID) (bool, string) {
	i := slices.IndexFunc(l.m.Slices(), func(s balance.Slice) bool { return s.ID == slice })
	s := l.m.Slices()[i]
	for _, v := range l.left[to] {
		if v.Lo <= s.Hi && s.Lo <= v.Hi && l.iteration-v.at < 10 {
			return false, "it left a moment ago"
		}
	}
	return true, ""
}

// iterate lets one interval pass and then asks the strategy once.
func (l *loop) iterate(s balance.Strategy) {
	l.t.Helper()
	l.seconds(l.interval)
	in := l.input()
	p, err := s.Iterate(in)
	if err != nil {
		l.t.Fatal(err)
	}
	next, err := l.m.Apply(p.Ops)
	if err != nil {
		l.t.Fatalf("%s proposes what cannot be: %v", s.Name(), err)
	}
	l.last, l.memory = p, p.Memory
	l.settle(next, p)
}

// settle counts what was started and ends the moves that are due.
func (l *loop) settle(m *balance.Model, p balance.Proposal) {
	l.t.Helper()
	l.table.Model(m, l.items)
	var weight, items float64
	for i, sum := range loads.OfSlices(balance.Input{Model: m, Items: l.items}) {
		s := m.Slices()[i]
		if _, ok := l.due[s.ID]; s.Move.Phase == balance.Copying && !ok {
			weight += float64(sum.Weight)
			items += float64(sum.Items)
			l.started++
			l.due[s.ID] = l.iteration + l.takes
			if l.rests {
				l.left[s.Shard] = append(l.left[s.Shard], restPart{balance.Interval{Lo: s.Lo, Hi: s.Hi}, l.iteration})
			}
		}
	}
	if weight > l.budget*l.weight*(1+1e-9) || items > l.budget*float64(l.items.Len())*(1+1e-9) {
		l.t.Fatalf("%v of all weight and %v items move, the budget is %v", weight/l.weight, items, l.budget)
	}
	l.moved += weight / l.weight
	for _, end := range []func(*balance.Edit, uint64) error{(*balance.Edit).Switch, (*balance.Edit).Finish} {
		e := m.Edit()
		for _, s := range m.Slices() {
			if s.Move.Phase != balance.NoMove && l.iteration >= l.due[s.ID] {
				if err := end(e, s.ID); err != nil {
					l.t.Fatal(err)
				}
			}
		}
		m = model(l.t, e)
		l.table.Model(m, l.items)
	}
	for _, s := range m.Slices() {
		if s.Move.Phase == balance.NoMove {
			delete(l.due, s.ID)
		}
	}
	l.m = m
}

// truth returns the input with the real loads.
func (l *loop) truth() balance.Input {
	return balance.Input{Model: l.m, Items: l.items, Order: l.order, Limits: l.limits, Loads: newTrue(l.m, l.items, l.loads)}
}

// trueLoads holds exactly known loads, item by item.
type trueLoads struct {
	slices map[uint64]float64
	keys   []balance.Key
	loads  map[balance.Key]float64
}

func newTrue(m *balance.Model, items *balance.Index, loads map[balance.Key]float64) *trueLoads {
	l := &trueLoads{slices: map[uint64]float64{}, loads: loads}
	all, i := m.Slices(), 0
	items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		for all[i].Hi < k {
			i++
		}
		l.slices[all[i].ID] += loads[k]
		l.keys = append(l.keys, k)
		return true
	})
	return l
}

func (l *trueLoads) Slice(id uint64) float64 { return l.slices[id] }
func (l *trueLoads) Measured() bool          { return true }
func (l *trueLoads) Hot(lo, hi balance.Key, visit func(balance.Key, float64) bool) {
	i, _ := slices.BinarySearch(l.keys, lo)
	for ; i < len(l.keys) && l.keys[i] <= hi; i++ {
		if !visit(l.keys[i], l.loads[l.keys[i]]) {
			return
		}
	}
}

// zipf returns the loads of items, the hottest first: Zipf's law with an exponent, 10⁶ per
// second in total.
func zipf(keys []balance.Key, exponent float64) map[balance.Key]float64 {
	out := make(map[balance.Key]float64, len(keys))
	var sum float64
	for i := range keys {
		sum += math.Pow(float64(i+1), -exponent)
	}
	for i, k := range keys {
		out[k] = 1e6 * math.Pow(float64(i+1), -exponent) / sum
	}
	return out
}

// world makes items, and a model with perShard slices per shard in which the first shard has
// much more load than the others: its items are the hottest ones until it has the given share.
func world(t testing.TB, seed uint64, shardCount, perShard, items int, exponent, share float64) *loop {
	r := rand.New(rand.NewPCG(seed, 1))
	index := &balance.Index{}
	var keys []balance.Key
	for i := range items {
		k, _ := balance.ByHash.Key(1, uint64(i+1))
		index.Put(k, uint32(1+r.IntN(20)))
		keys = append(keys, k)
	}
	slices.Sort(keys)
	base, err := balance.NewModel(shards(shardCount))
	if err != nil {
		t.Fatal(err)
	}
	e, last := base.Edit(), uint64(1)
	for i := range shardCount * perShard {
		if i > 0 {
			last, _ = e.Split(last, keys[i*items/(shardCount*perShard)])
		}
		if err := e.Map(last, balance.ShardID(i/perShard+1)); err != nil {
			t.Fatal(err)
		}
	}
	l := newLoop(t, model(t, e), index, nil)
	l.heat(r, keys, 0, items/shardCount, exponent, share)
	return l
}

// heat redraws the items' ranks: the keys with indexes from `from` to before `upTo` are the
// hottest until they have the given share of the total load.
func (l *loop) heat(r *rand.Rand, keys []balance.Key, from, upTo int, exponent, share float64) {
	first := slices.Clone(keys[from:upTo])
	rest := append(slices.Clone(keys[:from]), keys[upTo:]...)
	r.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	var ranked []balance.Key
	var sum, total float64
	for i := range keys {
		total += math.Pow(float64(i+1), -exponent)
	}
	for i := range keys {
		w := math.Pow(float64(i+1), -exponent)
		if len(first) > 0 && (len(rest) == 0 || sum+w <= share*total && r.Float64() < 3*share) {
			ranked, first = append(ranked, first[0]), first[1:]
			sum += w
		} else {
			ranked, rest = append(ranked, rest[0]), rest[1:]
		}
	}
	l.loads = zipf(ranked, exponent)
}
