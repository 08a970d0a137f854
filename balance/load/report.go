package load

import (
	"time"

	"adshard/balance"
)

// Cost is the work done for queries in an interval or, as a rate, per second.
type Cost struct{ Examined, Matched, Micros uint64 }

// Weights combine a Cost into one number.
type Weights struct{ Examined, Matched, Micros float64 }

// DefaultWeights are the microseconds that a posting examined and a match
// take on an otherwise idle machine (adbench store fits them): a load of 1,000,000
// is one core fully used. Measured time is left out: it depends on what else the
// machine does, and equal slaves would seem different.
var DefaultWeights = Weights{Examined: 0.015, Matched: 0.013}

// Of returns the load of a cost.
func (w Weights) Of(c Cost) float64 {
	return w.Examined*float64(c.Examined) + w.Matched*float64(c.Matched) + w.Micros*float64(c.Micros)
}

// Report is what a slave counted since its previous report: the cost by slice
// and generation, the most expensive items and topics (anchor terms), and which items
// some topics consist of.
type Report struct {
	// Slave is who reports; the mapper sets it.
	Slave string
	// Number grows by one with each report of an Incarnation of the slave.
	Incarnation string
	Number      uint64
	Interval    time.Duration
	Queries     uint64
	Slices      []SliceCost
	Items       []ItemCost
	Topics      []TopicCost
	// Pairs are a sample: each stands for as much as it costs, and all of them for all
	// of the cost.
	Pairs []PairCost
}

// SliceCost is the cost of one generation of a slice.
type SliceCost struct {
	Slice, Generation uint64
	Cost
	// Split is the last key of the left half when the slice is cut where each half has
	// half of the load, as the slave estimates; 0: it does not know.
	Split balance.Key
}

// ItemCost is the cost of an item.
type ItemCost struct {
	Key balance.Key
	Cost
}

// TopicCost is the cost of an anchor term.
type TopicCost struct {
	Term uint64
	Cost
}

// PairCost is the cost of an item under an anchor term.
type PairCost struct {
	Term uint64
	Key  balance.Key
	Cost
}
