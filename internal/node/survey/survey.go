// Package survey describes where everything lies at one moment, how even that is, and why a slice
// lies where it does. The admin port's answers are made from it; it is made from an input of
// package balance.
package survey

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// tolerance is how far above the mean the load of a slave may be while the slave is called
// balanced.
const tolerance = 0.1

// Survey is the placement of slices and items at one moment. It does not change and
// needs no lock, except for In.Items and In.May.
type Survey struct {
	In    balance.Input
	At    time.Time
	Took  time.Duration
	Sums  []load.SliceSum // in the order of In.Model's slices
	Loads map[balance.ShardID]float64
	Even  balance.Evenness
	Bound load.Bound
	// LeastWeight and LeastShare are the results of load.LeastMove.
	LeastWeight uint64
	LeastShare  float64
	// load and weight are sums over all slices; shards has the sums for each shard.
	load   float64
	weight uint64
	shards map[balance.ShardID]load.SliceSum
}

// New makes the survey of an input. It goes through all items.
func New(in balance.Input, now time.Time) *Survey {
	m := &Survey{
		In: in, At: now, Sums: load.OfSlices(in), Bound: load.LowerBound(in),
		Loads: make(map[balance.ShardID]float64), shards: make(map[balance.ShardID]load.SliceSum),
	}
	m.LeastWeight, m.LeastShare = load.LeastMove(in, tolerance)
	for i, s := range in.Model.Slices() {
		n := m.shards[s.Shard]
		n.Items += m.Sums[i].Items
		n.Weight += m.Sums[i].Weight
		n.Load += m.Sums[i].Load
		m.shards[s.Shard] = n
		m.Loads[s.Target()] += m.Sums[i].Load // in the same way as load.OfShards
		m.load += m.Sums[i].Load
		m.weight += m.Sums[i].Weight
	}
	m.Even = load.EvennessOf(in.Model, m.Loads, in.Limits)
	m.Took = time.Since(now)
	return m
}

// ByLoad reports whether the survey's loads are measured; otherwise they are weights.
func (m *Survey) ByLoad() bool { return m.In.Loads != nil && m.In.Loads.Measured() }

// Slice returns the index of a slice in the model.
func (m *Survey) Slice(id uint64) (i int, ok bool) {
	i = slices.IndexFunc(m.In.Model.Slices(), func(s balance.Slice) bool { return s.ID == id })
	return i, i >= 0
}

// Name returns a shard's name.
func (m *Survey) Name(id balance.ShardID) string {
	sh, _ := m.In.Model.Shard(id)
	return sh.Name
}

// share returns a shard's capacity relative to the others.
func (m *Survey) share(shard balance.ShardID) float64 {
	return float64(max(1, m.In.Limits[shard].Share))
}

// OverMean returns the ratio of a load on a shard to the mean of all shards.
func (m *Survey) OverMean(shard balance.ShardID, load float64) float64 {
	if m.Even.Mean == 0 {
		return 1
	}
	return max(0, load/m.share(shard)/m.Even.Mean)
}

// WeightShare returns a shard's share of all weight, 0 to 1.
func (m *Survey) WeightShare(shard balance.ShardID) float64 {
	return ratio(float64(m.shards[shard].Weight), float64(m.weight))
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}
