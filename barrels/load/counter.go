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

// DefaultCountEvery is the number of searches of which one is counted: more often
// it would cost a slave more than 3 % of its throughput when its caches are cold.
const DefaultCountEvery = 16

// Counter counts what searches cost each slice.
type Counter struct {
	every    atomic.Uint64 // one search in n is counted; 0: none
	searches atomic.Uint64

	mu    sync.Mutex // guards what follows
	since time.Time
	taken uint64   // searches at since
	list  []sample // not yet attributed
	// slices are the costs by what was served, at the places in its slices.
	slices map[*index.Served][]sliceCost
	splits splits
	items  heavyHitters
	topics heavyHitters
	pairs  pairs
}

// sliceCost is what a slice cost, with its split key unless its generation is old.
type sliceCost struct {
	cost
	split *split
}

const (
	// loadSamples is the number of samples attributed at a time, small enough to stay in the
	// processor's caches.
	loadSamples = 1024
	// loadTables bounds the tables and views since the load was last taken.
	loadTables = 64
	// loadReport is how many items and how many topics a report names.
	loadReport = 128
)

// NewCounter returns a counter that counts one search in DefaultCountEvery.
func NewCounter() *Counter {
	l := &Counter{since: time.Now(), slices: make(map[*index.Served][]sliceCost), splits: make(splits)}
	l.every.Store(DefaultCountEvery)
	return l
}

// Next reports whether the search that begins is counted. Which ones are counted does
// not depend on their order: clients may ask in rounds.
func (l *Counter) Next() (nonce uint64, counted bool) {
	n, every := l.searches.Add(1), l.every.Load()
	if every == 0 {
		return 0, false
	}
	n = certify.Mix(n)
	return n >> 32, n%every == 0
}

// Add adds a search that has ended.
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
	clear(t.list) // the pool keeps no table alive
	if len(l.list) >= loadSamples {
		l.attribute()
	}
}

// attribute determines the samples' groups and slices and adds up their costs, in
// random order: those of a search are in the order of keys, and split keys would swing
// from one end of a slice to the other. The caller has mu.
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
			if len(l.slices) >= loadTables { // the load is not collected
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

// begin returns the costs of what is served, all 0.
func (l *Counter) begin(served *index.Served) []sliceCost {
	costs := make([]sliceCost, len(served.Slices))
	for i, h := range served.Slices {
		costs[i].split = l.splits.estimate(h)
	}
	l.slices[served] = costs
	return costs
}

// SetEvery makes one search in n counted; 0: none.
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

// generation is a slice as of one generation.
type generation struct{ slice, generation uint64 }

// sliceLoads adds up what several tables and views say of the same generation
// of a slice; keys are its split keys.
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
