package balance

import (
	"fmt"

	"adshard/fault"
)

// OpKind is an elementary operation on a model (thesis 6.3.10), or one on its
// list of nodes.
type OpKind uint8

// The operations.
const (
	OpMap     OpKind = iota + 1 // Slice is served by Node: only in the first plan
	OpSplit                     // Slice ends before At; New begins there
	OpMerge                     // Slice takes its right neighbour New in
	OpJoin                      // Node joins, with Name and Address
	OpAddress                   // Node is reached at Address
	OpStart                     // Slice begins to be copied to Node
	OpCancel                    // Slice stays where it is
	OpSwitch                    // Slice is served by its target from the next view on
	OpFinish                    // Slice leaves the node that served it before
	OpState                     // Node becomes State
)

// Op is one operation. Fields that its kind does not name are zero.
type Op struct {
	Kind          OpKind
	Slice         uint64
	Node          NodeID
	At            Key
	New           uint64
	Name, Address string
	State         NodeState
}

// String returns the operation as one would say it.
func (o Op) String() string {
	switch o.Kind {
	case OpMap:
		return fmt.Sprintf("map slice %d to node %d", o.Slice, o.Node)
	case OpSplit:
		return fmt.Sprintf("split slice %d at %x, slice %d begins there", o.Slice, uint64(o.At), o.New)
	case OpMerge:
		return fmt.Sprintf("merge slice %d into slice %d", o.New, o.Slice)
	case OpJoin:
		return fmt.Sprintf("node %d %q joins", o.Node, o.Name)
	case OpAddress:
		return fmt.Sprintf("node %d is at %s", o.Node, o.Address)
	}
	return fmt.Sprintf("op(%d)", o.Kind)
}

// Edit changes a copy of a model, one operation after another, and remembers
// the operations. Each costs constant time, however many slices there are.
type Edit struct {
	base  *Model
	view  uint64 // of the model that comes out
	ops   []Op
	list  []linked
	byID  map[uint64]int32
	nodes []Node
	nextS uint64
	nextN NodeID
}

// linked is a slice in a doubly linked list by rising key; -1: none.
type linked struct {
	Slice
	prev, next int32
}

// Edit begins an edit. The model itself never changes.
func (m *Model) Edit() *Edit {
	e := &Edit{
		base: m, view: m.view, byID: make(map[uint64]int32, len(m.slices)),
		list: make([]linked, len(m.slices)), nodes: append([]Node(nil), m.nodes...),
		nextS: m.nextSlice, nextN: m.nextNode,
	}
	for i, s := range m.slices {
		e.list[i] = linked{Slice: s, prev: int32(i) - 1, next: int32(i) + 1}
		e.byID[s.ID] = int32(i)
	}
	e.list[len(e.list)-1].next = -1
	return e
}

// Slice returns a slice as it is after the operations so far.
func (e *Edit) Slice(id uint64) (Slice, bool) {
	i, ok := e.byID[id]
	if !ok {
		return Slice{}, false
	}
	return e.list[i].Slice, true
}

// Map has node serve the slice from the next view on.
func (e *Edit) Map(slice uint64, node NodeID) error {
	i, ok := e.byID[slice]
	if !ok {
		return e.refuse("there is no slice %d", slice)
	}
	if !e.knows(node) {
		return e.refuse("slice %d cannot go to the unknown node %d", slice, node)
	}
	e.view = e.base.view + 1
	s := &e.list[i].Slice
	s.Node, s.From = node, e.view
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpMap, Slice: slice, Node: node})
	return nil
}

// Split cuts a slice in two: the slice keeps the keys below at, a new one,
// whose id is returned, has the rest. Both stay where they are.
func (e *Edit) Split(slice uint64, at Key) (uint64, error) {
	i, ok := e.byID[slice]
	if !ok {
		return 0, e.refuse("there is no slice %d", slice)
	}
	left := e.list[i].Slice
	if at <= left.Lo || at > left.Hi {
		return 0, e.refuse("slice %d (%x to %x) cannot be split at %x", slice, left.Lo, left.Hi, at)
	}
	right := left
	right.ID, right.Lo, right.Generation = e.nextS, at, 1
	left.Hi = at - 1
	left.Generation++
	e.nextS++
	j := int32(len(e.list))
	after := e.list[i].next
	e.list = append(e.list, linked{Slice: right, prev: i, next: after})
	e.list[i].Slice, e.list[i].next = left, j
	if after >= 0 {
		e.list[after].prev = j
	}
	e.byID[right.ID] = j
	e.ops = append(e.ops, Op{Kind: OpSplit, Slice: slice, At: at, New: right.ID})
	return right.ID, nil
}

// Merge has a slice take in its right neighbour on the same node. What comes
// out is served from the later of their views on, so that one merges when no
// master has an older one any more.
func (e *Edit) Merge(slice, right uint64) error {
	i, ok := e.byID[slice]
	j, okRight := e.byID[right]
	if !ok || !okRight || e.list[i].next != j {
		return e.refuse("slices %d and %d are no neighbours", slice, right)
	}
	a, b := &e.list[i], e.list[j]
	if a.Node != b.Node {
		return e.refuse("slices %d and %d lie on the nodes %d and %d", slice, right, a.Node, b.Node)
	}
	a.Hi, a.next, a.From = b.Hi, b.next, max(a.From, b.From)
	a.Generation = max(a.Generation, b.Generation) + 1
	if b.next >= 0 {
		e.list[b.next].prev = i
	}
	delete(e.byID, right)
	e.ops = append(e.ops, Op{Kind: OpMerge, Slice: slice, New: right})
	return nil
}

// Join adds a node, which holds nothing yet.
func (e *Edit) Join(name, address string) (NodeID, error) {
	for _, n := range e.nodes {
		if n.Name == name {
			return 0, e.refuse("there is a node %q already", name)
		}
	}
	id := e.nextN
	e.nextN++
	e.nodes = append(e.nodes, Node{ID: id, Name: name, Address: address})
	e.view = e.base.view + 1
	e.ops = append(e.ops, Op{Kind: OpJoin, Node: id, Name: name, Address: address})
	return id, nil
}

// Address changes where a node is reached.
func (e *Edit) Address(node NodeID, address string) error {
	for i := range e.nodes {
		if e.nodes[i].ID == node {
			e.nodes[i].Address = address
			e.view = e.base.view + 1
			e.ops = append(e.ops, Op{Kind: OpAddress, Node: node, Address: address})
			return nil
		}
	}
	return e.refuse("there is no node %d", node)
}

// Ops returns the operations so far, in their order.
func (e *Edit) Ops() []Op { return e.ops }

// Model returns the model that comes out, checked. The first plan, made from
// the model of view 0, is view 1, and all is served from it on.
func (e *Edit) Model() (*Model, error) {
	m := &Model{view: e.view, nextSlice: e.nextS, nextNode: e.nextN, nodes: e.nodes}
	first := e.base.view == 0
	if first {
		m.view = 1
	}
	m.slices = make([]Slice, 0, len(e.byID))
	for i := int32(0); i >= 0; i = e.list[i].next {
		s := e.list[i].Slice
		if first {
			s.From = 1
		}
		m.slices = append(m.slices, s)
	}
	return m, m.check()
}

// Apply replays operations on the model: all of them or, with an error, none.
func (m *Model) Apply(ops []Op) (*Model, error) {
	e := m.Edit()
	for _, o := range ops {
		if err := e.apply(o); err != nil {
			return nil, err
		}
	}
	return e.Model()
}

func (e *Edit) apply(o Op) error {
	switch o.Kind {
	case OpMap:
		return e.Map(o.Slice, o.Node)
	case OpSplit:
		id, err := e.Split(o.Slice, o.At)
		if err == nil && id != o.New {
			return e.refuse("slice %d would be number %d", o.New, id)
		}
		return err
	case OpMerge:
		return e.Merge(o.Slice, o.New)
	case OpJoin:
		id, err := e.Join(o.Name, o.Address)
		if err == nil && id != o.Node {
			return e.refuse("node %d would be number %d", o.Node, id)
		}
		return err
	case OpAddress:
		return e.Address(o.Node, o.Address)
	}
	return e.refuse("unknown operation %d", o.Kind)
}

func (e *Edit) knows(id NodeID) bool {
	for _, n := range e.nodes {
		if n.ID == id {
			return true
		}
	}
	return false
}

func (e *Edit) refuse(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "balance: change model", format, args...)
}
