package sim

import (
	"time"

	"adshard/balance"
)

// Query is a query of a trace.
type Query struct {
	// At is when the query arrives, since the start of the load. It never falls.
	At time.Duration
	// Items are the items that the query examines, in ascending order of keys, with the
	// microseconds that each costs its slave.
	Items []ItemCost
}

// ItemCost is the cost of an item for a query.
type ItemCost struct {
	Key    balance.Key
	Micros float64
	// Term is the anchor term to which all or most of the cost belongs. If it is 0,
	// slaves report no topic.
	Term uint64
}

// Trace returns one query after another, and false at the end.
type Trace func() (Query, bool)
