package places

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Refused is a row that With did not accept.
type Refused struct {
	Row int // index in the given list
	Err error
}

var (
	errNoParent = errors.New("the parent is neither in the table nor a row that is taken: import the file that has it, or correct the id")
	errCircle   = errors.New("the place would contain itself, by its parents: correct the ids")
	errDeep     = fmt.Errorf("the place, or one below it, would lie in more than %d others: correct the ids", MaxDepth-1)
)

// With returns the table with the rows replacing those with the same id. If several rows have the same id, the last one applies. The
// rows must pass Check. A row is refused if its parent is neither in the table nor an accepted row, if its chain of parents forms a
// circle, or if it makes a chain of more than MaxDepth places. The table's old row with its id then stays. The refused rows are in the
// order of the given ones.
func (t *Table) With(rows []Row) (*Table, []Refused) { return t.with(rows, MaxDepth) }

func (t *Table) with(rows []Row, deepest int) (*Table, []Refused) {
	m := t.merging(rows)
	for m.round() || m.shorten(deepest) {
	}
	all := make([]Row, 0, len(m.nodes))
	for i := range m.nodes {
		switch n := &m.nodes[i]; {
		case n.row >= 0:
			r := rows[n.row]
			r.complete()
			all = append(all, r)
		case n.old >= 0:
			all = append(all, t.row(&t.index[n.old]))
		}
	}
	slices.SortFunc(m.refused, func(a, b Refused) int { return cmp.Compare(a.Row, b.Row) })
	return build(all), m.refused
}

// merging is a table into which rows are merged.
type merging struct {
	table   *Table
	nodes   []node // by ascending id
	refused []Refused
	path    []int
}

// node is a place that is in the table, in the rows, or in both.
type node struct {
	id, parent uint32
	row, old   int // indexes in the rows and in the table; -1 if it is not there or its row was refused
	state      nodeState
	err        error // why its row is refused
}

type nodeState uint8

const (
	unseen nodeState = iota
	onPath
	done
)

func (t *Table) merging(rows []Row) *merging {
	m := &merging{table: t, nodes: make([]node, 0, len(rows)+len(t.index))}
	for i := range rows {
		m.nodes = append(m.nodes, node{id: rows[i].ID, parent: rows[i].Parent, row: i, old: t.at(rows[i].ID)})
	}
	for i := range t.index {
		m.nodes = append(m.nodes, node{id: t.index[i].id, parent: t.index[i].parent, row: -1, old: i})
	}
	// Of the rows with the same id, the last comes first.
	slices.SortFunc(m.nodes, func(a, b node) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(b.row, a.row)) })
	m.nodes = slices.CompactFunc(m.nodes, func(a, b node) bool { return a.id == b.id })
	return m
}

// round looks at each place once and refuses rows. It reports whether another round is needed, since older rows that stay may close a
// circle.
func (m *merging) round() (again bool) {
	for i := range m.nodes {
		m.nodes[i].state = unseen
	}
	for i := range m.nodes {
		m.follow(i)
	}
	for i := range m.nodes {
		n := &m.nodes[i]
		if n.err == nil || n.row < 0 {
			continue
		}
		again = m.take(n, n.err) || again
	}
	return again
}

// take withdraws a row, and reports whether an older one takes its place.
func (m *merging) take(n *node, why error) (older bool) {
	m.refused = append(m.refused, Refused{n.row, why})
	n.row = -1
	if n.old >= 0 {
		n.parent, n.err = m.table.index[n.old].parent, nil
	}
	return n.old >= 0
}

// shorten withdraws rows that make chains too long, once no row has any other fault, and reports whether there were any. For each place
// one level too deep it withdraws the nearest row, from the place upwards, that is new or has a different parent than before.
func (m *merging) shorten(deepest int) (some bool) {
	var blamed []int
	depths := make([]int, len(m.nodes))
	for i := range m.nodes {
		if m.nodes[i].row < 0 && m.nodes[i].old < 0 {
			continue
		}
		if m.measure(i, depths); depths[i] == deepest+1 {
			blamed = append(blamed, m.moved(i))
		}
	}
	slices.Sort(blamed)
	for _, i := range slices.Compact(blamed) {
		m.take(&m.nodes[i], errDeep)
	}
	return len(blamed) > 0
}

// measure computes the depths of a place and of those above it.
func (m *merging) measure(i int, depths []int) {
	m.path = m.path[:0]
	for ; i >= 0 && depths[i] == 0; i = m.at(m.nodes[i].parent) {
		m.path = append(m.path, i)
	}
	depth := 0
	if i >= 0 {
		depth = depths[i]
	}
	for _, on := range slices.Backward(m.path) {
		depth++
		depths[on] = depth
	}
}

// moved returns the nearest row, from a place upwards, that is new or has a different parent than before.
func (m *merging) moved(i int) int {
	for {
		n := &m.nodes[i]
		if n.row >= 0 && (n.old < 0 || n.parent != m.table.index[n.old].parent) {
			return i
		}
		i = m.at(n.parent)
	}
}

// follow goes up from a place to one that was seen before, and on the way down refuses the rows that have no valid parent or form a
// circle.
func (m *merging) follow(i int) {
	m.path = m.path[:0]
	for i >= 0 && m.nodes[i].state == unseen {
		m.nodes[i].state = onPath
		m.path = append(m.path, i)
		i = m.at(m.nodes[i].parent)
	}
	if i >= 0 && m.nodes[i].state == onPath {
		for _, on := range m.path[slices.Index(m.path, i):] {
			m.nodes[on].refuse(errCircle)
		}
	}
	for _, on := range slices.Backward(m.path) {
		n := &m.nodes[on]
		n.state = done
		if n.parent == 0 || n.err != nil {
			continue
		}
		if p := m.at(n.parent); p < 0 || m.nodes[p].gone() {
			n.refuse(errNoParent)
		}
	}
}

// refuse marks the row of a place as refused, if the place has one.
func (n *node) refuse(err error) {
	if n.row >= 0 {
		n.err = err
	}
}

// gone reports whether the place is refused and has no older row that stays.
func (n *node) gone() bool { return n.old < 0 && (n.err != nil || n.row < 0) }

func (m *merging) at(id uint32) int {
	i, ok := slices.BinarySearchFunc(m.nodes, id, func(n node, id uint32) int { return cmp.Compare(n.id, id) })
	if !ok {
		return -1
	}
	return i
}
