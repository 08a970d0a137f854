package load

import (
	"time"

	"adshard/balance"
)

// Cost is the work done for queries in an interval, or per second if it is a rate.
type Cost struct{ Examined, Matched, Micros uint64 }

// Weights are the factors that combine a Cost into one number.
type Weights struct{ Examined, Matched, Micros float64 }

// DefaultWeights are the microseconds per examined posting and per match on an
// otherwise idle machine (`adbench store` fits them). So a load of 1,000,000 is one
// core fully used. Measured time is left out: it depends on what else the machine does,
// and equal slaves would seem different.
var DefaultWeights = Weights{Examined: 0.015, Matched: 0.013}

// Of returns the load of a cost.
func (w Weights) Of(c Cost) float64 {
	return w.Examined*float64(c.Examined) + w.Matched*float64(c.Matched) + w.Micros*float64(c.Micros)
}

// Report is what a slave has counted since its previous report: the cost by slice and
// generation, the most expensive items and topics (anchor terms), and the items of some
// topics.
type Report struct {
	// Slave is the name of the slave that reports. The mapper sets it.
	Slave string
	// Number grows by one with each report of the same Incarnation of the slave.
	Incarnation string
	Number      uint64
	Interval    time.Duration
	Queries     uint64
	Slices      []SliceCost
	Items       []ItemCost
	Topics      []TopicCost
	// Pairs are a sample of the pairs. The cost of each is scaled, so that together
	// they stand for the whole cost.
	Pairs []PairCost
}

// SliceCost is the cost of one generation of a slice.
type SliceCost struct {
	Slice, Generation uint64
	Cost
	// Split is the last key of the left half of the slice, so cut that each half has
	// half of the load, as the slave estimates; or 0 if the slave does not know.
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

// PairCost is the cost of an item for an anchor term.
type PairCost struct {
	Term uint64
	Key  balance.Key
	Cost
}
