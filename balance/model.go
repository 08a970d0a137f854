package balance

import (
	"cmp"
	"slices"
	"sort"

	"adshard/fault"
)

// Model maps slices to nodes (thesis 6.3.2). Its slices tile the ring. It is
// immutable and may be shared; Edit makes the next one.
type Model struct {
	view      uint64
	revision  uint64 // changes of slaves that masters learn
	least     uint64 // no older view is served
	filled    bool   // the first fill is complete
	nextSlice uint64
	nextNode  NodeID
	nodes     []Node  // in ascending id order
	slaves    []Slave // in ascending order of names
	byNode    map[NodeID][]Slave
	slices    []Slice // in ascending key order, tiling the ring
}

// NewModel returns the model before the first plan: view 0, one slice that is
// the whole ring on the first node. Nodes get their ids in the order given; each
// has one slave, of its name.
func NewModel(nodes []Node) (*Model, error) {
	m := &Model{nextSlice: 2, nextNode: 1}
	for _, n := range nodes {
		n.ID = m.nextNode
		m.nextNode++
		m.nodes = append(m.nodes, n)
		m.slaves = append(m.slaves, Slave{Name: n.Name, Node: n.ID, In: true})
	}
	slices.SortFunc(m.slaves, func(a, b Slave) int { return cmp.Compare(a.Name, b.Name) })
	m.slices = []Slice{{ID: 1, Hi: MaxKey, Generation: 1, Node: 1}}
	return m, m.check()
}

// View numbers the states of the slice map; it grows when a slice changes its
// node, or a node joins or is removed.
func (m *Model) View() uint64 { return m.view }

// Revision numbers the states of the sets of replicas; it grows when a slave joins
// or leaves one, or its address changes.
func (m *Model) Revision() uint64 { return m.revision }

// Least returns the oldest view that queries may still use.
func (m *Model) Least() uint64 { return m.least }

// Filled reports whether the first fill is complete: each slice has once been
// complete on the node that serves it.
func (m *Model) Filled() bool { return m.filled }

// Nodes returns the nodes in ascending id order; not to be modified.
func (m *Model) Nodes() []Node { return m.nodes }

// Slices returns the slices in ascending key order; not to be modified.
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

// Header returns the table of a slave that holds nothing.
func (m *Model) Header() Table {
	return Table{View: m.view, Least: m.least, Revision: m.revision, Filled: m.filled}
}

// Table returns what a node is to hold and serve: its own slices, those being
// copied to it, which it serves in no view yet, and those that it served before a
// switch, in the views up to then.
func (m *Model) Table(node NodeID) Table {
	t := m.Header()
	for _, s := range m.slices {
		if s.Node == node || s.Move.Phase != NoMove && s.Move.Other == node {
			t.Slices = append(t.Slices, s.held(node))
		}
	}
	return t
}

// Tables returns the table of each node.
func (m *Model) Tables() map[NodeID]Table {
	out := make(map[NodeID]Table, len(m.nodes))
	for _, n := range m.nodes {
		out[n.ID] = m.Header()
	}
	add := func(s Slice, node NodeID) {
		t := out[node]
		t.Slices = append(t.Slices, s.held(node))
		out[node] = t
	}
	for _, s := range m.slices {
		add(s, s.Node)
		if s.Move.Phase != NoMove {
			add(s, s.Move.Other)
		}
	}
	return out
}

// held returns the slice as an entry of the table of one of its nodes.
func (s Slice) held(node NodeID) Held {
	h := Held{ID: s.ID, Lo: s.Lo, Hi: s.Hi, Generation: s.Generation}
	switch {
	case s.Node == node:
		h.From = s.From
	case s.Move.Phase == Switched:
		h.From, h.Until = s.Move.OtherFrom, s.From-1
	}
	return h
}

// check returns why a model is invalid: slices must tile the ring, on known
// nodes, with distinct ids below the next, served from a view that exists, and
// move only between different nodes.
func (m *Model) check() error {
	const op = "balance: check model"
	if len(m.nodes) == 0 {
		return fault.Newf(fault.Invalid, op, "there is no node")
	}
	names := make(map[string]bool, len(m.nodes))
	for i, n := range m.nodes {
		if n.ID == 0 || n.ID >= m.nextNode || i > 0 && n.ID <= m.nodes[i-1].ID || names[n.Name] || n.State > Dissolving {
			return fault.Newf(fault.Invalid, op, "node %d %q is listed twice, out of order or in an unknown state", n.ID, n.Name)
		}
		names[n.Name] = true
	}
	if err := m.checkSlaves(); err != nil {
		return err
	}
	if m.least > m.view {
		return fault.Newf(fault.Invalid, op, "the oldest view, %d, is newer than the newest, %d", m.least, m.view)
	}
	ids := make(map[uint64]struct{}, len(m.slices))
	next := Key(0)
	for i, s := range m.slices {
		if s.Lo != next || s.Hi < s.Lo || i > 0 && next == 0 {
			return fault.Newf(fault.Invalid, op, "slice %d (%x to %x) leaves a gap or overlaps at %x", s.ID, s.Lo, s.Hi, next)
		}
		if err := m.checkSlice(s); err != nil {
			return err
		}
		ids[s.ID] = struct{}{}
		next = s.Hi + 1
	}
	if next != 0 || len(m.slices) == 0 {
		return fault.Newf(fault.Invalid, op, "the ring is not covered from %x on", next)
	}
	if len(ids) != len(m.slices) {
		return fault.Newf(fault.Invalid, op, "%d slices have %d different numbers", len(m.slices), len(ids))
	}
	return nil
}

// checkSlaves returns why the list of slaves is invalid; it is grouped by shard.
func (m *Model) checkSlaves() error {
	m.byNode = make(map[NodeID][]Slave, len(m.nodes))
	for i, s := range m.slaves {
		_, known := m.Node(s.Node)
		if s.Name == "" || i > 0 && s.Name <= m.slaves[i-1].Name || s.Left > m.revision ||
			s.Node != 0 && (!known || s.Left != 0 || s.Drained) || s.Node == 0 && s.In {
			return fault.Newf(fault.Invalid, "balance: check model",
				"slave %q is listed twice, out of order, of an unknown shard, or both a replica and a spare", s.Name)
		}
		if s.Node != 0 {
			m.byNode[s.Node] = append(m.byNode[s.Node], s)
		}
	}
	return nil
}

// checkSlice returns why a slice is invalid.
func (m *Model) checkSlice(s Slice) error {
	const op = "balance: check model"
	if s.ID == 0 || s.ID >= m.nextSlice || s.From > m.view {
		return fault.Newf(fault.Invalid, op, "slice %d has the number 0 or one not given yet, or comes from a later view", s.ID)
	}
	if n, ok := m.Node(s.Node); !ok || n.State == Drained {
		return fault.Newf(fault.Invalid, op, "slice %d is on node %d, which is unknown or drained", s.ID, s.Node)
	}
	v := s.Move
	switch v.Phase {
	case NoMove:
		if v != (Move{}) {
			return fault.Newf(fault.Invalid, op, "slice %d is not moving but names node %d as its target", s.ID, v.Other)
		}
		return nil
	case Copying:
		if v.OtherFrom != 0 {
			return fault.Newf(fault.Invalid, op, "slice %d is served in view %d by a node that is not filled", s.ID, v.OtherFrom)
		}
	case Switched:
		if v.OtherFrom >= s.From {
			return fault.Newf(fault.Invalid, op, "slice %d was switched in view %d, before view %d", s.ID, s.From, v.OtherFrom)
		}
	default:
		return fault.Newf(fault.Invalid, op, "slice %d is in the unknown phase %d of a move", s.ID, v.Phase)
	}
	if n, ok := m.Node(v.Other); !ok || v.Other == s.Node || n.State == Drained {
		return fault.Newf(fault.Invalid, op, "slice %d moves between the nodes %d and %d, which is impossible", s.ID, s.Node, v.Other)
	}
	return nil
}
