package sim

import (
	"time"

	"adshard/balance"
)

// Result is what a Run shows. Costs are in microseconds of a slave's time.
type Result struct {
	// Slaves are the names in the order of all lists by slave.
	Slaves  []string
	Samples []Sample
	// Fill is how long the first fill took.
	Fill time.Duration
	// Queries were asked; Complete were answered from the whole ring; Missed
	// and Doubled count items in complete answers, which must be 0.
	Queries, Complete, Missed, Doubled int
	// Expected is the mean over all queries of a slave's cost at the slowest
	// slave against the query's own lower bound, the larger of total/slaves and
	// its dearest item.
	Expected float64
	// Critical has quantiles of the cost at the slowest slave of a query, and
	// Latency of the time until its last answer, with waiting.
	Critical, Latency Quantiles
	// Totals at the end.
	Total Totals
	// Events are what the mapper told, with their times.
	Events []string
	// Troubles are the texts of what the mapper complained of.
	Troubles []string
}

// Sample is the state at a time and what happened in the interval before it.
type Sample struct {
	At time.Duration
	// Load is the cost a second that each slave had; Items and Weight what it
	// serves, by the published model.
	Load   []float64
	Items  []int
	Weight []uint64
	// MaxOverMean is that of Load; Bound the least that any placement of the
	// items has under this interval's costs.
	MaxOverMean, Bound float64
	Queries            int
	// Expected, Critical and Latency are as in Result, in the interval.
	Expected          float64
	Critical, Latency Quantiles
	Slices, InFlight  int
	// Model is the map of slices that Items and Weight are of.
	Model *balance.Model
	Totals
}

// Totals count since the start of the load.
type Totals struct {
	// Moves are switched moves; MovedItems and MovedWeight what they brought.
	Moves       int
	MovedItems  uint64
	MovedWeight uint64
	// Thrash counts moves back to a slave that the slice, or a part of it, had
	// left less than 10 intervals of the strategy before, whatever became of
	// its load.
	Thrash    int
	Cancelled int
}

// Quantiles of times.
type Quantiles struct{ P50, P99, Max time.Duration }
