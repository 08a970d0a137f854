package sim

import (
	"cmp"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/delivery"
	"adshard/fault"
)

// Config describes a cluster and its load. WithDefaults replaces zero fields by
// defaults.
type Config struct {
	// Seed decides everything that is random. Without faults and changes, only delays
	// are.
	Seed uint64
	// Slaves, Distributors and Masters are their numbers at the start. They are named
	// s1…, d1…, m1…. If Distributors is 0, the balancer has one of its own.
	Slaves, Distributors, Masters int
	// Order is the order of keys. Items has the items at the start.
	Order balance.Order
	Items []Item
	// Strategy balances the cluster. Initial makes the first plan; nil means Strategy.
	Strategy, Initial balance.Strategy
	// Mapper has times and limits of the mapper. Its Epoch, Slaves, Order and Strategy
	// are set by the simulator.
	Mapper cluster.Config
	// Distributor bounds buckets.
	Distributor delivery.Config
	// Trace returns the queries. If it is nil, there are none.
	Trace Trace
	// QueryMicros is the cost of a query for each slave, in addition to the cost of its
	// items. ItemMicros is the cost to apply or build an item. Each slave has one core.
	// If ItemMicros is 0, moves do not disturb queries.
	QueryMicros, ItemMicros float64
	// Latency is the mean latency of a message. Each message takes between half and one
	// and a half times as long.
	Latency time.Duration
	// Duration is how long the load lasts. It begins when the first fill is complete,
	// which must take no longer than Warm. Times in the Result are measured from then.
	Duration, Warm time.Duration
	// Sample is the time between two entries of the time series.
	Sample time.Duration
}

// Item is an item with its weight.
type Item struct {
	Key    balance.Key
	Weight uint32
}

// WithDefaults returns the configuration with zero fields replaced by their defaults.
func (c Config) WithDefaults() Config {
	c.Slaves, c.Masters = max(1, c.Slaves), max(1, c.Masters)
	c.Latency = cmp.Or(c.Latency, 200*time.Microsecond)
	c.Duration = cmp.Or(c.Duration, time.Minute)
	c.Warm = cmp.Or(c.Warm, 10*time.Minute)
	c.Sample = cmp.Or(c.Sample, time.Second)
	if c.Initial == nil {
		c.Initial = c.Strategy
	}
	return c
}

// Validate returns an error of kind fault.Invalid if the configuration is not valid.
func (c Config) Validate() error {
	if c.Strategy == nil {
		return fault.Field("sim: configure", "strategy", "a strategy is needed")
	}
	seen := make(map[balance.Key]bool, len(c.Items))
	for _, i := range c.Items {
		if i.Key == 0 || seen[i.Key] {
			return fault.Field("sim: configure", "items", "the key %x is 0 or occurs twice", uint64(i.Key))
		}
		seen[i.Key] = true
	}
	return nil
}
