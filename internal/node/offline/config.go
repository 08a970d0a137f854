package offline

import (
	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/internal/node/config"
	"adshard/internal/node/feed"
	"adshard/internal/node/identity"
	"adshard/internal/node/ports"
	"adshard/internal/ulimit"
	"adshard/search/words"
)

// Config says which stores Build makes.
type Config struct {
	// DB is the database: sqlite:PATH or postgres://USER@HOST/DATABASE.
	DB string
	// Slaves is the number of stores. Strategy, Order and Weights place the groups in the same way as a balancer with these
	// settings.
	Slaves int
	// Replicas is how many slaves hold each slice.
	Replicas int
	Strategy string
	Order    string
	Weights  feed.Weights
	// Languages are those whose words have stems, the same as the cluster's.
	Languages words.Languages
	// Out is the directory in which slave-0, slave-1, … are made.
	Out string
}

// DefaultConfig returns a configuration that lacks DB and Out.
func DefaultConfig() Config {
	return Config{Slaves: 3, Replicas: 1, Strategy: strategy.Default, Order: identity.DefaultOrder.String(), Weights: feed.DefaultWeights()}
}

// Validate returns an error that lists all faults of the configuration, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH or postgres://USER@HOST/DATABASE")
	k.That(c.Out != "", "out", "must name a directory for the stores")
	k.Number("slaves", c.Slaves, 1, 1<<10)
	k.Number("replicas", c.Replicas, 1, min(balance.MaxReplicas, c.Slaves))
	k.OneOf("strategy", c.Strategy, strategy.Names()...)
	k.OneOf("order", c.Order, balance.Orders()...)
	if o, ok := balance.ParseOrder(c.Order); ok {
		err := strategy.CheckOrder(c.Strategy, o)
		k.That(err == nil, "order", "%v", err)
	}
	k.That(c.Weights != feed.Weights{}, "weights", "must not all be 0")
	return k.Err()
}

// need returns what a build needs from the system. All stores are written at the same time, but only some are finished at the same
// time.
func (c *Config) need() ulimit.Need {
	return ulimit.Need{Files: ports.LeastFiles + 2*uint64(c.Slaves)}
}
