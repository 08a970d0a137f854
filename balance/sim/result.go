package sim

import (
	"time"

	"adshard/balance"
)

// Result is the result of Run. Costs are in microseconds of a slave's time.
type Result struct {
	// Slaves has the names of the slaves, in the order of all lists by slave.
	Slaves  []string
	Samples []Sample
	// Fill is how long the first fill took.
	Fill time.Duration
	// Queries is the number of queries, and Complete the number of these that were
	// answered from the whole ring. Missed and Doubled count the items that complete
	// answers lacked or had twice. Both must be 0.
	Queries, Complete, Missed, Doubled int
	// Expected is the mean over all queries of this ratio: the cost at the slowest
	// slave, divided by a lower bound for the query. The bound is total/slaves or the
	// cost of the most expensive item, whichever is greater.
	Expected float64
	// Critical has quantiles of the cost of a query at its slowest slave. Latency has
	// quantiles of the time until its last answer, including waiting.
	Critical, Latency Quantiles
	// Total has the totals at the end.
	Total Totals
	// Events has the events that the mapper reported, with their times.
	Events []string
	// Troubles has the errors that the mapper reported.
	Troubles []string
}

// Sample is the state at a time, with what happened in the interval before it.
type Sample struct {
	At time.Duration
	// Load is the cost per second that each slave had. Items and Weight are those of
	// the items that it serves, by the published model.
	Load   []float64
	Items  []int
	Weight []uint64
	// MaxOverMean is the ratio for Load. Bound is the least ratio that any placement of
	// the items could have with the costs in this interval.
	MaxOverMean, Bound float64
	Queries            int
	// Expected, Critical and Latency are as in Result, but for the interval.
	Expected          float64
	Critical, Latency Quantiles
	Slices, InFlight  int
	// Model is the model to which Items and Weight belong.
	Model *balance.Model
	Totals
}

// Totals has counts since the start of the load.
type Totals struct {
	// Moves is the number of switched moves. MovedItems and MovedWeight are what they
	// moved.
	Moves       int
	MovedItems  uint64
	MovedWeight uint64
	// Thrash is the number of moves back to a slave that the slice, or a part of it,
	// had left less than 10 intervals of the strategy before, whatever its load was
	// then.
	Thrash    int
	Cancelled int
}

// Quantiles has quantiles of times.
type Quantiles struct{ P50, P99, Max time.Duration }
