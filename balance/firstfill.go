package balance

import "sort"

// firstFilled reports whether the nodes have reported everything that they are to
// serve. The first fill is then complete for good: data missing later, or lost
// nodes, do not undo it; they show in answers.
func (m *Mapper) firstFilled() bool {
	full := make(map[NodeID][]Interval, len(m.model.nodes))
	for _, n := range m.model.nodes {
		if s := m.nodes[n.Name]; s != nil && s.reported {
			full[n.ID] = s.table.in(Full)
		}
	}
	for _, s := range m.model.slices {
		if !covers(full[s.Node], Interval{s.Lo, s.Hi}) {
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
