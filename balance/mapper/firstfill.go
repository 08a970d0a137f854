package mapper

import (
	"slices"

	"adshard/balance"
)

// firstFilled reports whether the slaves that are asked have reported everything
// that they are to serve: of each shard those that are alive, and at least one. The
// first fill is then complete for good: data missing later, or lost nodes, do not
// undo it; they show in answers.
func (c *cluster) firstFilled() bool {
	full := make(map[balance.NodeID][][]balance.Interval, len(c.model.Nodes()))
	for _, s := range c.model.Slaves() {
		n := c.nodes[s.Name]
		switch {
		case !s.In || n == nil:
		case n.reported && (c.alive(s.Name, c.time.now) || len(c.model.Set(s.Node)) == 1):
			full[s.Node] = append(full[s.Node], n.table.In(balance.Full))
		case c.alive(s.Name, c.time.now):
			full[s.Node] = append(full[s.Node], nil)
		}
	}
	for _, s := range c.model.Slices() {
		lacks := func(has []balance.Interval) bool { return !balance.Covers(has, balance.Interval{Lo: s.Lo, Hi: s.Hi}) }
		if len(full[s.Node]) == 0 || slices.ContainsFunc(full[s.Node], lacks) {
			return false
		}
	}
	return true
}
