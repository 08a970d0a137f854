package node

import (
	"runtime"
	"time"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/internal/node/config"
)

// BalancerConfig configures a balancer.
type BalancerConfig struct {
	// DB is the backend database, e.g. sqlite:ads.db.
	DB string `yaml:"db"`
	// Listen is the address for slaves and masters; Admin that of the admin
	// port, "" for none.
	Listen string `yaml:"listen"`
	Admin  string `yaml:"admin"`
	// Slaves is how many slaves must have joined before the first plan.
	Slaves int `yaml:"slaves"`
	// Strategy makes the plan; Order says how items lie on the ring,
	// "advertiser" or "hash".
	Strategy string        `yaml:"strategy"`
	Order    string        `yaml:"order"`
	Weights  WeightsConfig `yaml:"weights"`
	// Limits are what slaves can take, by name; none: all are alike.
	Limits map[string]LimitConfig `yaml:"limits,omitempty"`
	// Interval is the time between two iterations of the strategy.
	Interval time.Duration `yaml:"interval"`
	// BucketBytes is the size that a bucket of node data aims at; NodeBytes and
	// Ahead bound what is ready for one slave, in bytes and in buckets.
	BucketBytes int `yaml:"bucket_bytes"`
	NodeBytes   int `yaml:"node_bytes"`
	Ahead       int `yaml:"ahead"`
	// Workers is how many buckets are built at a time.
	Workers int `yaml:"workers"`
	// KeepChanges is how many changes the feed keeps at most for slaves that
	// are behind or away; a slave that needs older ones is filled again.
	KeepChanges uint64 `yaml:"keep_changes"`
	// StateKey is under which the balancer keeps its epoch and its model in the
	// database, and its name as a reader of the feed.
	StateKey string `yaml:"state_key"`
}

// WeightsConfig says what makes an item heavy (thesis 2.4).
type WeightsConfig struct {
	Keyword uint32 `yaml:"keyword"`
	Ad      uint32 `yaml:"ad"`
	Lexicon uint32 `yaml:"lexicon"`
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
		Strategy: "original", Order: balance.ByOwner.String(), Weights: DefaultWeights(),
		Interval:    balance.DefaultInterval,
		BucketBytes: balance.DefaultBucketBytes, NodeBytes: balance.DefaultNodeBytes, Ahead: balance.DefaultAhead,
		Workers: min(runtime.GOMAXPROCS(0)+1, maxBuilders), KeepChanges: 5_000_000, StateKey: "balancer",
	}
}

// DefaultWeights weighs keywords, ads and lexicon entries alike.
func DefaultWeights() WeightsConfig { return WeightsConfig{Keyword: 1, Ad: 1, Lexicon: 1} }

// Validate lists all faults of the configuration.
func (c *BalancerConfig) Validate() error {
	var k config.Check
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH")
	k.Address("listen", c.Listen, true)
	k.Address("admin", c.Admin, false)
	k.Number("slaves", c.Slaves, 1, 1<<16)
	k.OneOf("strategy", c.Strategy, strategy.Names()...)
	k.OneOf("order", c.Order, balance.ByOwner.String(), balance.ByHash.String())
	k.That(c.Weights != WeightsConfig{}, "weights", "must not all be 0")
	k.That(c.Interval >= 0, "interval", "must not be negative")
	k.Number("bucket_bytes", c.BucketBytes, 1<<10, 32<<20)
	k.Number("node_bytes", c.NodeBytes, c.BucketBytes, 1<<30)
	k.Number("ahead", c.Ahead, 1, 1<<10)
	k.Number("workers", c.Workers, 1, maxBuilders)
	k.That(c.StateKey != "", "state_key", "must not be empty")
	return k.Err()
}

// weight returns an item's weight, at least 1.
func (w WeightsConfig) weight(keywords, ads, lexicon uint32) uint32 {
	sum := uint64(w.Keyword)*uint64(keywords) + uint64(w.Ad)*uint64(ads) + uint64(w.Lexicon)*uint64(lexicon)
	return uint32(max(1, min(sum, 1<<32-1)))
}
