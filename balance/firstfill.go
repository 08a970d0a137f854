package balance

import (
	"slices"
	"sort"
)

// firstFilled reports whether the slaves that are asked have reported everything
// that they are to serve: of each shard those that are alive, and at least one. The
// first fill is then complete for good: data missing later, or lost nodes, do not
// undo it; they show in answers.
func (c *cluster) firstFilled() bool {
	full := make(map[NodeID][][]Interval, len(c.model.nodes))
	for _, s := range c.model.slaves {
		n := c.nodes[s.Name]
		switch {
		case !s.In || n == nil:
		case n.reported && (c.alive(s.Name, c.time.now) || len(c.model.Set(s.Node)) == 1):
			full[s.Node] = append(full[s.Node], n.table.in(Full))
		case c.alive(s.Name, c.time.now):
			full[s.Node] = append(full[s.Node], nil)
		}
	}
	for _, s := range c.model.slices {
		lacks := func(has []Interval) bool { return !covers(has, Interval{s.Lo, s.Hi}) }
		if len(full[s.Node]) == 0 || slices.ContainsFunc(full[s.Node], lacks) {
			return false
		}
	}
	return true
}

// covers reports whether a list of disjoint ascending intervals, no two of which
// touch, contains all keys of v.
func covers(list []Interval, v Interval) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].Hi >= v.Lo })
	return i < len(list) && list[i].Lo <= v.Lo && v.Hi <= list[i].Hi
}
