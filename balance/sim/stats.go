package sim

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// stats collects a Result.
type stats struct {
	from     time.Duration // start of the load
	result   Result
	interval interval
	all      interval

	phases map[uint64]balance.Slice // moving slices, as last seen
	left   []left
	now    Totals
}

// interval counts queries.
type interval struct {
	load              []float64 // by slave
	items             map[balance.Key]float64
	queries, measured int
	expected          float64
	critical, latency []time.Duration
}

// left is an interval of keys that a shard gave away.
type left struct {
	lo, hi balance.Key
	shard  balance.ShardID
	at     time.Duration
}

func newInterval() interval { return interval{items: map[balance.Key]float64{}} }

// observe takes note of a model that has become durable.
func (t *stats) observe(w *world, m *balance.Model) {
	before := t.phases
	t.phases = make(map[uint64]balance.Slice)
	for _, v := range m.Slices() {
		if v.Move.Phase != balance.NoMove {
			t.phases[v.ID] = v
		} else if old, moved := before[v.ID]; moved && old.Move.Phase == balance.Copying {
			t.now.Cancelled++
		}
		if v.Move.Phase == balance.Switched && before[v.ID].Move.Phase != balance.Switched {
			t.switched(w, v)
		}
	}
}

func (t *stats) switched(w *world, v balance.Slice) {
	t.now.Moves++
	for _, k := range w.db.within(v.Lo, v.Hi) {
		if i, there := w.db.items[k]; there {
			t.now.MovedItems++
			t.now.MovedWeight += uint64(i.weight)
		}
	}
	since := w.now - 10*w.cfg.Mapper.Interval
	if slices.ContainsFunc(t.left, func(l left) bool {
		return l.shard == v.Shard && l.at >= since && l.lo <= v.Hi && v.Lo <= l.hi
	}) {
		t.now.Thrash++
	}
	t.left = append(t.left, left{v.Lo, v.Hi, v.Move.Other, w.now})
}

// answered counts a query: its cost for each slave, and when the last slave answered.
func (t *stats) answered(costs []float64, dearest float64, latency time.Duration) {
	total, most := 0.0, 0.0
	for _, c := range costs {
		total += c
		most = max(most, c)
	}
	for _, v := range []*interval{&t.interval, &t.all} {
		for len(v.load) < len(costs) {
			v.load = append(v.load, 0)
		}
		for i, c := range costs {
			v.load[i] += c
		}
		v.queries++
		if total > 0 {
			v.measured++
			v.expected += most / max(total/float64(len(costs)), dearest)
		}
		v.critical = append(v.critical, time.Duration(most*float64(time.Microsecond)))
		v.latency = append(v.latency, latency)
	}
}

// sample ends an interval and adds a Sample.
func (t *stats) sample(w *world, m *balance.Model) {
	v := &t.interval
	s := Sample{
		At: w.now - t.from, Queries: v.queries, Totals: t.now, InFlight: len(t.phases), Slices: len(m.Slices()), Model: m,
		Load: make([]float64, len(w.slaves)), Items: make([]int, len(w.slaves)), Weight: make([]uint64, len(w.slaves)),
		Critical: quantiles(v.critical), Latency: quantiles(v.latency), Expected: 1, MaxOverMean: 1, Bound: 1,
	}
	if v.measured > 0 {
		s.Expected = v.expected / float64(v.measured)
	}
	total, most, dearest := 0.0, 0.0, 0.0
	for i, l := range v.load {
		s.Load[i] = l / w.cfg.Sample.Seconds()
		total += l
		most = max(most, l)
	}
	for _, c := range v.items {
		dearest = max(dearest, c)
	}
	if total > 0 {
		mean := total / float64(len(s.Load))
		s.MaxOverMean, s.Bound = most/mean, max(1, dearest/mean)
	}
	t.held(w, m, &s)
	t.result.Samples = append(t.result.Samples, s)
	t.interval = newInterval()
}

// held counts the items that each slave serves.
func (t *stats) held(w *world, m *balance.Model, s *Sample) {
	at := make(map[balance.ShardID]int)
	for _, sh := range m.Shards() {
		at[sh.ID] = slices.IndexFunc(w.slaves, func(v *slave) bool { return v.name == sh.Name })
	}
	all, i := m.Slices(), 0
	for _, k := range w.db.sorted {
		item, there := w.db.items[k]
		for all[i].Hi < k {
			i++
		}
		if shard := at[all[i].Shard]; there && shard >= 0 {
			s.Items[shard]++
			s.Weight[shard] += uint64(item.weight)
		}
	}
}

func quantiles(list []time.Duration) Quantiles {
	n := len(list)
	if n == 0 {
		return Quantiles{}
	}
	slices.SortFunc(list, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	return Quantiles{P50: list[n/2], P99: list[n*99/100], Max: list[n-1]}
}
