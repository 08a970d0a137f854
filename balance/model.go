package balance

import (
	"slices"
	"sort"

	"adshard/fault"
)

// Model maps slices to nodes (thesis 6.3.2). Its slices tile the ring. It is
// immutable and may be shared; Edit makes the next one.
type Model struct {
	view      uint64
	nextSlice uint64
	nextNode  NodeID
	nodes     []Node  // by rising id
	slices    []Slice // by rising key, tiling the ring
}

// NewModel returns the model before the first plan: view 0, one slice that is
// the whole ring on the first node. Nodes get their ids in the order given.
func NewModel(nodes []Node) (*Model, error) {
	m := &Model{nextSlice: 2, nextNode: 1}
	for _, n := range nodes {
		n.ID = m.nextNode
		m.nextNode++
		m.nodes = append(m.nodes, n)
	}
	m.slices = []Slice{{ID: 1, Hi: MaxKey, Generation: 1, Node: 1}}
	return m, m.check()
}

// View numbers the states of the slice map; it grows when a slice changes its
// node, a node joins or a node's address changes.
func (m *Model) View() uint64 { return m.view }

// Nodes returns the nodes by rising id; not to be changed.
func (m *Model) Nodes() []Node { return m.nodes }

// Slices returns the slices by rising key; not to be changed.
func (m *Model) Slices() []Slice { return m.slices }

// At returns the slice that covers k.
func (m *Model) At(k Key) Slice {
	i := sort.Search(len(m.slices), func(i int) bool { return m.slices[i].Hi >= k })
	return m.slices[i]
}

// Node returns the node with this id.
func (m *Model) Node(id NodeID) (Node, bool) {
	i, ok := slices.BinarySearchFunc(m.nodes, id, func(n Node, id NodeID) int { return int(n.ID) - int(id) })
	if !ok {
		return Node{}, false
	}
	return m.nodes[i], true
}

// Named returns the node with this name.
func (m *Model) Named(name string) (Node, bool) {
	i := slices.IndexFunc(m.nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return m.nodes[i], true
}

// Table returns what a node holds and serves in the model.
func (m *Model) Table(node NodeID) Table {
	t := Table{View: m.view}
	for _, s := range m.slices {
		if s.Node == node {
			t.Slices = append(t.Slices, Held{ID: s.ID, Lo: s.Lo, Hi: s.Hi, Generation: s.Generation, From: s.From})
		}
	}
	return t
}

// check tells why a model is not sound: slices must tile the ring, on known
// nodes, with distinct ids below the next, served from a view that exists.
func (m *Model) check() error {
	const op = "balance: check model"
	if len(m.nodes) == 0 {
		return fault.Newf(fault.Invalid, op, "there is no node")
	}
	names := make(map[string]bool, len(m.nodes))
	for i, n := range m.nodes {
		if n.ID == 0 || n.ID >= m.nextNode || i > 0 && n.ID <= m.nodes[i-1].ID || names[n.Name] {
			return fault.Newf(fault.Invalid, op, "node %d %q stands twice or out of order", n.ID, n.Name)
		}
		names[n.Name] = true
	}
	ids := make(map[uint64]bool, len(m.slices))
	next := Key(0)
	for i, s := range m.slices {
		if _, known := m.Node(s.Node); !known {
			return fault.Newf(fault.Invalid, op, "slice %d lies on the unknown node %d", s.ID, s.Node)
		}
		if s.Lo != next || s.Hi < s.Lo || i > 0 && next == 0 {
			return fault.Newf(fault.Invalid, op, "slice %d (%x to %x) leaves a gap or overlaps at %x", s.ID, s.Lo, s.Hi, next)
		}
		if s.ID == 0 || s.ID >= m.nextSlice || ids[s.ID] || s.From > m.view {
			return fault.Newf(fault.Invalid, op, "slice %d stands twice or comes from a later view", s.ID)
		}
		ids[s.ID] = true
		next = s.Hi + 1
	}
	if next != 0 || len(m.slices) == 0 {
		return fault.Newf(fault.Invalid, op, "the ring is not covered from %x on", next)
	}
	return nil
}
