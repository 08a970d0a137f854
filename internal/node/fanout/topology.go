package fanout

import (
	"context"

	"adshard/search"
)

// Slave is the slave of a shard, however it is reached.
type Slave interface {
	search.Searcher
	search.Explainer
}

// Shard is a part of the cluster.
type Shard struct {
	Name  string
	Slave Slave
}

// Map is the shards of one view. It does not change.
type Map struct {
	Epoch, View uint64
	// Database is whose data the shards hold; Timeline is what the views count.
	Database, Timeline string
	Shards             []Shard
}

// Maps gives the newest map.
type Maps interface {
	// Current is the newest map; nil: none yet.
	Current() *Map
	// Newer waits for a map other than old until ctx is over; then nil.
	Newer(ctx context.Context, old *Map) *Map
}
