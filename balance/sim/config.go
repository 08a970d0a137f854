package sim

import (
	"cmp"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/delivery"
	"adshard/fault"
)

// Config describes a cluster and its load. Zero fields have the defaults of
// WithDefaults.
type Config struct {
	// Seed decides all that is left to chance: delays, and nothing else when
	// there are neither faults nor changes.
	Seed uint64
	// Slaves, Distributors and Masters are how many there are at the start;
	// they are named s1…, d1…, m1…. Distributors 0: the balancer's own.
	Slaves, Distributors, Masters int
	// Order of Keys; Items is what there is at the start.
	Order balance.Order
	Items []Item
	// Strategy balances; Initial makes the first plan, nil: Strategy.
	Strategy, Initial balance.Strategy
	// Mapper has times and limits of the mapper; its Epoch, Slaves, Order and
	// Strategy are set here.
	Mapper cluster.Config
	// Distributor bounds buckets.
	Distributor delivery.Config
	// Trace gives the queries; nil: none.
	Trace Trace
	// QueryMicros is what a query costs each slave beside its items, and
	// ItemMicros what it costs a slave to apply or to build an item; each slave
	// has one core. An item cost of 0 leaves queries undisturbed by moves.
	QueryMicros, ItemMicros float64
	// Latency of a message is between a half and three halves of this.
	Latency time.Duration
	// Duration is how long the load lasts; it begins at Warm, when the first
	// fill is over or after this time at the latest. Times in the Result are
	// since then.
	Duration, Warm time.Duration
	// Sample is the time between two entries of the time series.
	Sample time.Duration
}

// Item is something to be balanced.
type Item struct {
	Key    balance.Key
	Weight uint32
}

// WithDefaults returns the configuration with defaults for what is zero.
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

// Validate returns fault.Invalid with what is wrong.
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
