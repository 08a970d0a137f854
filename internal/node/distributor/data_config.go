package distributor

import (
	"runtime"

	"adshard/balance/delivery"
	"adshard/internal/node/config"
	"adshard/internal/node/feed"
)

// DataConfig bounds the node data that a distributor prepares.
type DataConfig struct {
	// Weights say what makes an item heavy.
	Weights feed.Weights `yaml:"weights"`
	// BucketBytes is the size that a bucket of node data aims at; NodeBytes and
	// Ahead bound what is ready for one slave, in bytes and in buckets.
	BucketBytes int `yaml:"bucket_bytes"`
	NodeBytes   int `yaml:"node_bytes"`
	Ahead       int `yaml:"ahead"`
	// Workers is how many buckets are built at a time.
	Workers int `yaml:"workers"`
}

// maxBuilders is the most buckets that are built at a time.
const maxBuilders = 64

// DefaultDataConfig returns the defaults.
func DefaultDataConfig() DataConfig {
	return DataConfig{
		Weights: feed.DefaultWeights(), BucketBytes: delivery.DefaultBucketBytes,
		NodeBytes: delivery.DefaultNodeBytes, Ahead: delivery.DefaultAhead,
		Workers: min(runtime.GOMAXPROCS(0)+1, maxBuilders),
	}
}

// Check notes all faults of the configuration in k.
func (c *DataConfig) Check(k *config.Check) {
	k.That(c.Weights != feed.Weights{}, "weights", "must not all be 0")
	k.Number("bucket_bytes", c.BucketBytes, 1<<10, 32<<20)
	k.Number("node_bytes", c.NodeBytes, c.BucketBytes, 1<<30)
	k.Number("ahead", c.Ahead, 1, 1<<10)
	k.Number("workers", c.Workers, 1, maxBuilders)
}
