package mapper

import (
	"slices"
	"time"

	"adshard/balance"
)

// How shards are, as the mapper sees them: a shard is as its replicas are that
// masters may ask.

// living returns the slaves of a shard's set that were heard from recently.
func (c *cluster) living(id balance.NodeID, now time.Duration) (names []string) {
	for _, s := range c.model.Set(id) {
		if c.alive(s.Name, now) {
			names = append(names, s.Name)
		}
	}
	return names
}

// up reports whether a slave of a shard's set was heard from recently.
func (c *cluster) up(id balance.NodeID, now time.Duration) bool {
	return slices.ContainsFunc(c.model.Set(id), func(s balance.Slave) bool { return c.alive(s.Name, now) })
}

// silence returns how long no slave of a shard was heard from.
func (c *cluster) silence(id balance.NodeID, now time.Duration) time.Duration {
	least := now
	for _, s := range c.model.Replicas(id) {
		least = min(least, now-c.node(s.Name).heard)
	}
	return least
}

// ailing returns why none of a shard's living slaves makes progress, and since when;
// "": one does, or none lives.
func (c *cluster) ailing(id balance.NodeID, now time.Duration) (why string, since time.Duration) {
	for _, name := range c.living(id, now) {
		n := c.node(name)
		if n.trouble == "" {
			return "", 0
		}
		if why == "" || n.troubled > since {
			why, since = n.trouble, n.troubled
		}
	}
	return why, since
}

// lost returns how long a slave has been lost; false: it is not lost, or not for
// long enough for anything to be done about it.
func (c *cluster) lost(name string, now time.Duration) (silent time.Duration, long bool) {
	silent = now - c.node(name).heard
	return silent, c.cfg.EvacuateAfter > 0 && silent >= c.cfg.EvacuateAfter && !c.paused
}
