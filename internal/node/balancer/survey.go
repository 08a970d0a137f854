package balancer

import (
	"slices"
	"time"

	"adshard/balance"
)

const (
	// resurvey is how many times as long as it took a survey is good for: each
	// looks at all items. resurveyLeast is how long at least, while the model is
	// the same.
	resurvey      = 20
	resurveyLeast = 2 * time.Second
)

// tolerance is how far above the mean a slave may be and count as even.
const tolerance = 0.1

// measured is what lies where at one moment, for people. It is not changed any
// more and needs no lock, but for in.Items and in.May.
type measured struct {
	in    balance.Input
	at    time.Time
	took  time.Duration
	sums  []balance.SliceSum // as in.Model's slices
	loads map[balance.NodeID]float64
	even  balance.Evenness
	bound balance.Bound
	// leastWeight and leastShare are balance.LeastMove's.
	leastWeight uint64
	leastShare  float64
	// load and weight are of all slices, nodes what lies on each node.
	load   float64
	weight uint64
	nodes  map[balance.NodeID]balance.SliceSum
}

// newMeasured looks at all items of an input.
func newMeasured(in balance.Input, now time.Time) *measured {
	m := &measured{
		in: in, at: now, sums: balance.SliceSums(in), bound: balance.LowerBound(in),
		loads: make(map[balance.NodeID]float64), nodes: make(map[balance.NodeID]balance.SliceSum),
	}
	m.leastWeight, m.leastShare = balance.LeastMove(in, tolerance)
	for i, s := range in.Model.Slices() {
		n := m.nodes[s.Node]
		n.Items += m.sums[i].Items
		n.Weight += m.sums[i].Weight
		n.Load += m.sums[i].Load
		m.nodes[s.Node] = n
		m.loads[s.Target()] += m.sums[i].Load // as balance.NodeLoads counts it
		m.load += m.sums[i].Load
		m.weight += m.sums[i].Weight
	}
	m.even = balance.EvennessOf(in.Model, m.loads, in.Limits)
	m.took = time.Since(now)
	return m
}

// byLoad tells whether loads are loads; else they are weights.
func (m *measured) byLoad() bool { return m.in.Loads != nil && m.in.Loads.Measured() }

// slice returns the place of a slice in the model.
func (m *measured) slice(id uint64) (i int, ok bool) {
	i = slices.IndexFunc(m.in.Model.Slices(), func(s balance.Slice) bool { return s.ID == id })
	return i, i >= 0
}

// name returns a node's name.
func (m *measured) name(id balance.NodeID) string {
	n, _ := m.in.Model.Node(id)
	return n.Name
}

// share is a node's strength.
func (m *measured) share(n balance.NodeID) float64 { return float64(max(1, m.in.Limits[n].Share)) }

// overMean returns what a load on a node is over the mean of all.
func (m *measured) overMean(n balance.NodeID, load float64) float64 {
	if m.even.Mean == 0 {
		return 1
	}
	return max(0, load/m.share(n)/m.even.Mean)
}

// weightShare returns a node's part of all weight, 0 to 1.
func (m *measured) weightShare(n balance.NodeID) float64 {
	return ratio(float64(m.nodes[n].Weight), float64(m.weight))
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}
