package cluster

import (
	"slices"

	"adshard/balance"
)

// FirstFilled reports whether the slaves that are asked have reported all slices that
// they are to serve. Of each shard, this must hold for the slaves that are alive, and
// for at least one. From then on the first fill is complete for good: data that go
// missing later, or lost shards, do not undo it. Answers show that such data are
// missing.
func (c *Cluster) FirstFilled() bool {
	full := make(map[balance.ShardID][][]balance.Interval, len(c.Model.Shards()))
	for _, s := range c.Model.Slaves() {
		n := c.Slaves[s.Name]
		switch {
		case !s.In || n == nil:
		case n.Reported && (c.Alive(s.Name, c.Time.Now) || len(c.Model.Set(s.Shard)) == 1):
			full[s.Shard] = append(full[s.Shard], n.Table.In(balance.Full))
		case c.Alive(s.Name, c.Time.Now):
			full[s.Shard] = append(full[s.Shard], nil)
		}
	}
	for _, s := range c.Model.Slices() {
		lacks := func(has []balance.Interval) bool { return !balance.Covers(has, balance.Interval{Lo: s.Lo, Hi: s.Hi}) }
		if len(full[s.Shard]) == 0 || slices.ContainsFunc(full[s.Shard], lacks) {
			return false
		}
	}
	return true
}
