package cluster

import (
	"slices"
	"time"

	"adshard/balance"
)

// How shards are, as the mapper sees them: a shard is as its replicas are that
// masters may ask.

// Living returns the slaves of a shard's set that were heard from recently.
func (c *Cluster) Living(id balance.ShardID, now time.Duration) (names []string) {
	for _, s := range c.Model.Set(id) {
		if c.Alive(s.Name, now) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Up reports whether a slave of a shard's set was heard from recently.
func (c *Cluster) Up(id balance.ShardID, now time.Duration) bool {
	return slices.ContainsFunc(c.Model.Set(id), func(s balance.Slave) bool { return c.Alive(s.Name, now) })
}

// Silence returns how long no slave of a shard was heard from.
func (c *Cluster) Silence(id balance.ShardID, now time.Duration) time.Duration {
	least := now
	for _, s := range c.Model.Replicas(id) {
		least = min(least, now-c.Slave(s.Name).Heard)
	}
	return least
}

// Ailing returns why none of a shard's living slaves makes progress, and since when;
// "": one does, or none lives.
func (c *Cluster) Ailing(id balance.ShardID, now time.Duration) (why string, since time.Duration) {
	for _, name := range c.Living(id, now) {
		n := c.Slave(name)
		if n.Trouble == "" {
			return "", 0
		}
		if why == "" || n.Troubled > since {
			why, since = n.Trouble, n.Troubled
		}
	}
	return why, since
}

// Lost returns how long a slave has been lost; false: it is not lost, or not for
// long enough for anything to be done about it.
func (c *Cluster) Lost(name string, now time.Duration) (silent time.Duration, long bool) {
	silent = now - c.Slave(name).Heard
	return silent, c.Config.EvacuateAfter > 0 && silent >= c.Config.EvacuateAfter && !c.Paused
}
