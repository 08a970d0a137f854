package cluster

import (
	"slices"
	"time"

	"adshard/balance"
)

// The state of shards, as the mapper sees it. The state of a shard follows from that of
// the replicas that masters may ask.

// Living returns the names of the slaves in a shard's set that were heard from
// recently.
func (c *Cluster) Living(id balance.ShardID, now time.Duration) (names []string) {
	for _, s := range c.Model.Set(id) {
		if c.Alive(s.Name, now) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Up reports whether any slave in a shard's set was heard from recently.
func (c *Cluster) Up(id balance.ShardID, now time.Duration) bool {
	return slices.ContainsFunc(c.Model.Set(id), func(s balance.Slave) bool { return c.Alive(s.Name, now) })
}

// Silence returns the time since any slave of a shard was last heard from.
func (c *Cluster) Silence(id balance.ShardID, now time.Duration) time.Duration {
	least := now
	for _, s := range c.Model.Replicas(id) {
		least = min(least, now-c.Slave(s.Name).Heard)
	}
	return least
}

// Ailing returns why no living slave of a shard makes progress, and since when. It
// returns "" if one of them makes progress, or none is alive.
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

// Lost returns the time since a slave was last heard from. long reports whether its
// slices should go to other shards.
func (c *Cluster) Lost(name string, now time.Duration) (silent time.Duration, long bool) {
	silent = now - c.Slave(name).Heard
	return silent, c.Config.EvacuateAfter > 0 && silent >= c.Config.EvacuateAfter && !c.Paused
}
