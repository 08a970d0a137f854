package fanout

import (
	"context"
	"slices"

	"adshard/balance"
	"adshard/search"
)

// Slave is the slave of a shard, in this process or remote.
type Slave interface {
	search.Searcher
	search.Explainer
}

// Shard is a part of the cluster.
type Shard struct {
	Name  string
	Slave Slave
	// Width is how much of the ring the shard must serve in the map's view; 0:
	// the map does not say.
	Width search.Width
	// Presence says whether it is asked; nil: always.
	Presence *Presence
}

// same reports whether two shards are one slave, whatever it is to serve.
func (s Shard) same(o Shard) bool { return s.Name == o.Name && s.Slave == o.Slave }

// Map is the shards of one view. It does not change.
type Map struct {
	Epoch, View uint64
	// Database is whose data the shards hold; Timeline is what the views count.
	Database, Timeline string
	// Filled: the first fill of the cluster is complete.
	Filled bool
	Shards []Shard
}

// version says which map it is.
func (m *Map) version() balance.MapVersion {
	if m == nil {
		return balance.MapVersion{}
	}
	return balance.MapVersion{Epoch: m.Epoch, View: m.View, Database: m.Database, Timeline: m.Timeline, Filled: m.Filled}
}

// versionOf returns the version of the map in a message of a balancer or a slave.
func versionOf(m interface {
	GetEpoch() uint64
	GetView() uint64
	GetDatabase() string
	GetTimeline() string
	GetFilled() bool
}) balance.MapVersion {
	return balance.MapVersion{Epoch: m.GetEpoch(), View: m.GetView(), Database: m.GetDatabase(), Timeline: m.GetTimeline(), Filled: m.GetFilled()}
}

// has reports whether the map names a shard.
func (m *Map) has(name string) bool {
	return slices.ContainsFunc(m.Shards, func(s Shard) bool { return s.Name == name })
}

// out returns the shards that are left out.
func (m *Map) out() (list []search.Missing) {
	for i := range m.Shards {
		if s := &m.Shards[i]; s.Presence.Out() {
			list = append(list, search.Missing{Shard: s.Name, Reason: search.Silent})
		}
	}
	return list
}

// Maps gives the newest map.
type Maps interface {
	// Current is the newest map; nil: none yet.
	Current() *Map
	// Newer waits for a map other than old; nil if ctx is done first.
	Newer(ctx context.Context, old *Map) *Map
}
