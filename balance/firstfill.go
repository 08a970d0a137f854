package balance

import "sort"

// firstFilled reports whether the nodes hold all that they are to serve, by what
// they have reported: then the first fill is complete for good. What nodes lack later
// on, and nodes that are lost, do not undo it; they show in answers.
func (m *Mapper) firstFilled() bool {
	full := make(map[NodeID][]Interval, len(m.model.nodes))
	for _, n := range m.model.nodes {
		if s := m.nodes[n.Name]; s != nil && s.told {
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

// covers reports whether a list of disjoint rising intervals, no two of which
// touch, has all keys of v.
func covers(list []Interval, v Interval) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].Hi >= v.Lo })
	return i < len(list) && list[i].Lo <= v.Lo && v.Hi <= list[i].Hi
}
