package node

import (
	"time"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/internal/node/config"
)

// BalancerConfig configures a balancer.
type BalancerConfig struct {
	// DB is the backend database, e.g. sqlite:ads.db.
	DB string `yaml:"db"`
	// Listen is the address for slaves and masters; Advertise is the address
	// that others are told, empty: the one listened on. Admin is the admin
	// port's, empty: none.
	Listen    string `yaml:"listen"`
	Advertise string `yaml:"advertise"`
	Admin     string `yaml:"admin"`
	// Slaves is how many slaves must have joined before the first plan.
	Slaves int `yaml:"slaves"`
	// Strategy makes the plan; Order says how items lie on the ring,
	// "advertiser" or "hash".
	Strategy string `yaml:"strategy"`
	Order    string `yaml:"order"`
	// Limits are what slaves can take, by name; none: all are alike.
	Limits map[string]LimitConfig `yaml:"limits,omitempty"`
	// Interval is the time between two iterations of the strategy.
	Interval time.Duration `yaml:"interval"`
	// Distribute: the balancer prepares node data itself, beside distributors
	// in processes of their own, if any.
	Distribute bool `yaml:"distribute"`

	SupplyConfig `yaml:",inline"`

	// KeepChanges is how many changes the feed keeps at most for slaves that
	// are behind or away; a slave that needs older ones is filled again.
	KeepChanges uint64 `yaml:"keep_changes"`
	// ReaderAge is how long a reader of the feed that is not heard of any more,
	// such as another cluster's balancer, holds its changes back.
	ReaderAge time.Duration `yaml:"reader_age"`
	// StateKey is under which the balancer keeps its epoch and its model in the
	// database, and its name as a reader of the feed.
	StateKey string `yaml:"state_key"`
}

// LimitConfig is what a slave can take: Share is its strength against the
// others' (0 is 1), Weight the most that its items may weigh together (0: no
// limit).
type LimitConfig struct {
	Share  uint32 `yaml:"share"`
	Weight uint64 `yaml:"weight"`
}

// DefaultBalancerConfig returns a configuration that lacks only DB.
func DefaultBalancerConfig() BalancerConfig {
	return BalancerConfig{
		Listen: "127.0.0.1:7000", Admin: "127.0.0.1:7001", Slaves: 3,
		Strategy: "original", Order: balance.ByOwner.String(),
		Interval: balance.DefaultInterval, Distribute: true, SupplyConfig: defaultSupply(),
		KeepChanges: 5_000_000, ReaderAge: 7 * 24 * time.Hour, StateKey: "balancer",
	}
}

// Validate lists all faults of the configuration.
func (c *BalancerConfig) Validate() error {
	var k config.Check
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH")
	k.Address("listen", c.Listen, true)
	k.Address("advertise", c.Advertise, false)
	k.Address("admin", c.Admin, false)
	k.Number("slaves", c.Slaves, 1, 1<<16)
	k.OneOf("strategy", c.Strategy, strategy.Names()...)
	k.OneOf("order", c.Order, balance.ByOwner.String(), balance.ByHash.String())
	k.That(c.Interval >= 0, "interval", "must not be negative")
	c.SupplyConfig.check(&k)
	k.Duration("reader_age", c.ReaderAge, time.Minute, 10*365*24*time.Hour)
	k.That(c.StateKey != "", "state_key", "must not be empty")
	return k.Err()
}
