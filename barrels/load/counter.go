package load

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adshard/barrels/certify"
	"adshard/barrels/index"
	"adshard/schema/pb"
)

// DefaultCountEvery is the default number n such that one search in n is counted. Counting more
// often would cost a slave more than 3 % of its throughput when its caches are cold.
const DefaultCountEvery = 16

// Counter counts what searches cost each slice.
type Counter struct {
	every    atomic.Uint64 // one search in `every` is counted, or none if it is 0
	searches atomic.Uint64

	mu    sync.Mutex // guards the fields below
	since time.Time
	taken uint64   // value of searches at since
	list  []sample // samples not yet attributed
	// slices has, for what was served, the costs of its slices in the same order.
	slices map[*index.Served][]sliceCost
	splits splits
	items  heavyHitters
	topics heavyHitters
	pairs  pairs
}

// sliceCost is the cost of a slice, with its split key unless its generation is old.
type sliceCost struct {
	cost
	split *split
}

const (
	// loadSamples is the number of samples attributed at a time, small enough to stay in the
	// processor's caches.
	loadSamples = 1024
	// loadTables bounds the number of tables and views kept until the load is taken.
	loadTables = 64
	// loadReport is the number of items and the number of topics that a report names.
	loadReport = 128
)

// NewCounter returns a counter that counts one search in DefaultCountEvery.
func NewCounter() *Counter {
	l := &Counter{since: time.Now(), slices: make(map[*index.Served][]sliceCost), splits: make(splits)}
	l.every.Store(DefaultCountEvery)
	return l
}

// Next reports whether the search that begins is counted, and returns a nonce for its sampling. The
// choice does not depend on the order of searches, since clients may repeat theirs in rounds.
func (l *Counter) Next() (nonce uint64, counted bool) {
	n, every := l.searches.Add(1), l.every.Load()
	if every == 0 {
		return 0, false
	}
	n = certify.Mix(n)
	return n >> 32, n%every == 0
}

// Add adds the samples of a search that has ended.
func (l *Counter) Add(t *Sampler) {
	t.active = false
	every := l.every.Load()
	if len(t.list) == 0 || every == 0 {
		return
	}
	perExamined := float64(time.Since(t.begun)) / float64(t.examined)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range t.list {
		s.nanos = perExamined * float64(s.examined*every)
		s.examined, s.matched = s.examined*every, s.matched*every
		l.list = append(l.list, s)
	}
	clear(t.list) // so that the pool keeps no table in memory
	if len(l.list) >= loadSamples {
		l.attribute()
	}
}

// attribute finds the samples' groups and slices and adds up their costs. It does so in random
// order: the samples of a search are in the order of keys, and split keys would swing from one end
// of a slice to the other. The caller has mu.
func (l *Counter) attribute() {
	rand.Shuffle(len(l.list), func(i, j int) { l.list[i], l.list[j] = l.list[j], l.list[i] })
	for i := range l.list {
		s := &l.list[i]
		at, in := s.served.Next(s.served.Index(s.key), s.key)
		if !in {
			continue
		}
		costs := l.slices[s.served]
		if costs == nil {
			if len(l.slices) >= loadTables { // the load is not being collected
				clear(l.slices)
				clear(l.splits)
			}
			costs = l.begin(s.served)
		}
		c := &costs[at]
		c.add(s.cost)
		if c.split != nil {
			c.split.add(s.key)
		}
		l.topics.add(s.term, s.cost)
		l.items.add(s.key, s.cost)
		l.pairs.add(s)
	}
	clear(l.list)
	l.list = l.list[:0]
}

// begin returns costs of 0 for all slices of what is served.
func (l *Counter) begin(served *index.Served) []sliceCost {
	costs := make([]sliceCost, len(served.Slices))
	for i, h := range served.Slices {
		costs[i].split = l.splits.estimate(h)
	}
	l.slices[served] = costs
	return costs
}

// SetEvery makes one search in `every` counted, or none if it is 0.
func (l *Counter) SetEvery(every int) { l.every.Store(uint64(max(0, every))) }

// Take returns what searches have cost since the last call (Store.TakeLoad).
func (l *Counter) Take() *pb.Load {
	l.mu.Lock()
	l.attribute()
	now, searches := time.Now(), l.searches.Load()
	out := &pb.Load{IntervalMs: uint64(now.Sub(l.since).Milliseconds()), Queries: searches - l.taken}
	l.since, l.taken = now, searches
	bySlice, items, topics := l.slices, l.items.most(loadReport), l.topics.most(loadReport)
	l.slices = make(map[*index.Served][]sliceCost, len(bySlice))
	l.items.reset()
	l.topics.reset()
	keys, pairs := l.splits.report(), l.pairs.report()
	l.mu.Unlock()

	out.Slices, out.Pairs = sliceLoads(bySlice, keys), pairs
	for i := range items {
		out.Items = append(out.Items, &pb.ItemLoad{Key: items[i].of, Cost: items[i].pb()})
	}
	for i := range topics {
		out.Topics = append(out.Topics, &pb.TopicLoad{Term: topics[i].of, Cost: topics[i].pb()})
	}
	return out
}

func (c *cost) pb() *pb.Cost {
	return &pb.Cost{Examined: c.examined, Matched: c.matched, Micros: uint64(c.nanos / 1000)}
}

// generation is one generation of a slice.
type generation struct{ slice, generation uint64 }

// sliceLoads adds up the costs of each generation of a slice in several tables and views. keys are
// the split keys.
func sliceLoads(bySlice map[*index.Served][]sliceCost, keys map[generation]*uint64) []*pb.SliceLoad {
	sums := make(map[generation]*cost)
	for v, costs := range bySlice {
		for i := range costs {
			if costs[i].examined+costs[i].matched == 0 {
				continue
			}
			g := generation{v.Slices[i].Id, v.Slices[i].Generation}
			if sums[g] == nil {
				sums[g] = new(cost)
			}
			sums[g].add(costs[i].cost)
		}
	}
	out := make([]*pb.SliceLoad, 0, len(sums))
	for g, c := range sums {
		out = append(out, &pb.SliceLoad{Slice: g.slice, Generation: g.generation, Cost: c.pb(), SplitKey: keys[g]})
	}
	slices.SortFunc(out, func(a, b *pb.SliceLoad) int {
		return cmp.Or(cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.Generation, b.Generation))
	})
	return out
}
