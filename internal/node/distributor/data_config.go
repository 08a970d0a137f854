package distributor

import (
	"runtime"

	"adshard/balance/delivery"
	"adshard/internal/node/config"
	"adshard/internal/node/feed"
	"adshard/search/words"
)

// DataConfig bounds the slave data that a distributor prepares.
type DataConfig struct {
	// Weights says how the weight of an item is computed.
	Weights feed.Weights `yaml:"weights"`
	// BucketBytes is the size that buckets should have. NodeBytes and Ahead bound the buckets that
	// are ready for one slave, in bytes and in number.
	BucketBytes int `yaml:"bucket_bytes"`
	NodeBytes   int `yaml:"node_bytes"`
	Ahead       int `yaml:"ahead"`
	// Workers is the number of buckets that are built at the same time.
	Workers int `yaml:"workers"`
	// Languages are those whose words have stems.
	Languages words.Languages `yaml:"languages"`
}

// maxBuilders bounds Workers.
const maxBuilders = 64

// DefaultDataConfig returns the defaults.
func DefaultDataConfig() DataConfig {
	return DataConfig{
		Weights: feed.DefaultWeights(), BucketBytes: delivery.DefaultBucketBytes,
		NodeBytes: delivery.DefaultNodeBytes, Ahead: delivery.DefaultAhead,
		Workers: min(runtime.GOMAXPROCS(0)+1, maxBuilders),
	}
}

// Check records all faults of the configuration in k.
func (c *DataConfig) Check(k *config.Check) {
	k.That(c.Weights != feed.Weights{}, "weights", "must not all be 0")
	k.Number("bucket_bytes", c.BucketBytes, 1<<10, 32<<20)
	k.Number("node_bytes", c.NodeBytes, c.BucketBytes, 1<<30)
	k.Number("ahead", c.Ahead, 1, 1<<10)
	k.Number("workers", c.Workers, 1, maxBuilders)
}
