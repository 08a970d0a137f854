package sim

import (
	"time"

	"adshard/balance"
)

// Query is one query of a trace.
type Query struct {
	// At is when it arrives, since the start of the load; never falling.
	At time.Duration
	// Items are those that it looks at, by rising key, with the microseconds
	// that each costs the slave that serves it.
	Items []ItemCost
}

// ItemCost is what an item costs a query.
type ItemCost struct {
	Key    balance.Key
	Micros float64
	// Term is the one that the cost is under, or most of it; 0: slaves tell no topic.
	Term uint64
}

// Trace gives one query after another; false: there are no more.
type Trace func() (Query, bool)
