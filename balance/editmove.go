package balance

import "slices"

// Start begins to move a slice to another node, which is filled while the
// slice is served where it is.
func (e *Edit) Start(slice uint64, node NodeID) error {
	s, err := e.at(slice)
	if err != nil {
		return err
	}
	n := e.node(node)
	switch {
	case e.base.view == 0:
		return e.refuse("slice %d is not in service yet: the first plan maps it", slice)
	case s.Move.Phase != NoMove:
		return e.locked(*s)
	case n == nil:
		return e.refuse("slice %d cannot go to the unknown node %d", slice, node)
	case n.State != Active:
		return e.refuse("slice %d cannot go to node %d %q, which is %s", slice, node, n.Name, n.State)
	case s.Node == node:
		return e.refuse("slice %d is on node %d already", slice, node)
	}
	s.Move = Move{Phase: Copying, Other: node}
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpStart, Slice: slice, Node: node})
	return nil
}

// Cancel ends a move before its switch; the slice stays where it is.
func (e *Edit) Cancel(slice uint64) error {
	s, err := e.moving(slice, Copying)
	if err != nil {
		return err
	}
	s.Move = Move{}
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpCancel, Slice: slice})
	return nil
}

// Switch has the target of a move serve the slice from the next view on. All
// switches of one edit share that view.
func (e *Edit) Switch(slice uint64) error {
	s, err := e.moving(slice, Copying)
	if err != nil {
		return err
	}
	if s.From > e.base.view {
		return e.refuse("slice %d already changes its node in the next view", slice)
	}
	e.view = e.base.view + 1
	s.Node, s.Move = s.Move.Other, Move{Phase: Switched, Other: s.Node, OtherFrom: s.From}
	s.From = e.view
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpSwitch, Slice: slice})
	return nil
}

// Finish ends a move: the slice leaves the node that served it before, and no node
// serves views before the switch any more.
func (e *Edit) Finish(slice uint64) error {
	s, err := e.moving(slice, Switched)
	if err != nil {
		return err
	}
	s.Move = Move{}
	e.least = max(e.least, s.From)
	e.ops = append(e.ops, Op{Kind: OpFinish, Slice: slice})
	return nil
}

// moving returns a slice that is in a phase of a move.
func (e *Edit) moving(slice uint64, phase MovePhase) (*Slice, error) {
	s, err := e.at(slice)
	if err == nil && s.Move.Phase != phase {
		err = e.refuse("slice %d is not %s", slice, phase)
	}
	return s, err
}

// Join adds a node, which holds nothing yet, with its only slave, of the same name.
func (e *Edit) Join(name string, at Site) (NodeID, error) {
	if slices.ContainsFunc(e.nodes, func(n Node) bool { return n.Name == name }) {
		return 0, e.refuse("there is a node %q already", name)
	}
	i, known := slices.BinarySearchFunc(e.slaves, name, byName)
	if known {
		return 0, e.refuse("there is a slave %q already", name)
	}
	id := e.nextN
	e.nextN++
	e.nodes = append(e.nodes, Node{ID: id, Name: name})
	e.slaves = slices.Insert(e.slaves, i, Slave{Name: name, Site: at, Node: id, In: true})
	e.view = e.base.view + 1
	e.ops = append(e.ops, Op{Kind: OpJoin, Node: id, Name: name, Site: at})
	return id, nil
}

// SetState sets a node's state. Drained requires that no slice is left on it.
func (e *Edit) SetState(node NodeID, state NodeState) error {
	n := e.node(node)
	switch {
	case n == nil:
		return e.refuse("there is no node %d", node)
	case state > Dissolving:
		return e.refuse("node %d cannot have the state %d", node, state)
	case n.State == state:
		return e.refuse("node %d %q is %s already", node, n.Name, state)
	}
	if state == Drained && e.uses(node) {
		return e.refuse("node %d %q still has slices", node, n.Name)
	}
	n.State = state
	e.ops = append(e.ops, Op{Kind: OpState, Node: node, State: state})
	return nil
}

// Remove takes a node that has no slices out of the model, with its slaves. Its
// number is never reused, and masters learn of the removal by a new view.
func (e *Edit) Remove(node NodeID) error {
	n := e.node(node)
	switch {
	case e.base.view == 0:
		return e.refuse("node %d cannot be removed before the first plan", node)
	case n == nil:
		return e.refuse("there is no node %d", node)
	case e.uses(node):
		return e.refuse("node %d %q still has slices", node, n.Name)
	case len(e.nodes) == 1:
		return e.refuse("node %d %q is the only one", node, n.Name)
	}
	name := n.Name
	e.nodes = slices.DeleteFunc(e.nodes, func(o Node) bool { return o.ID == node })
	e.slaves = slices.DeleteFunc(e.slaves, func(s Slave) bool { return s.Node == node })
	e.view = e.base.view + 1
	e.ops = append(e.ops, Op{Kind: OpRemove, Node: node, Name: name})
	return nil
}

// uses reports whether a slice is on a node, or on its way from or to it.
func (e *Edit) uses(node NodeID) bool {
	for _, i := range e.byID {
		if s := e.list[i].Slice; s.Node == node || s.Move.Other == node {
			return true
		}
	}
	return false
}
