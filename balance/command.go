package balance

import (
	"fmt"
	"slices"
	"time"

	"adshard/fault"
)

// command is an operator's request: move a slice to a node or, with slice 0, set
// a node's or a slave's state or remove it.
type command struct {
	slave  string // one of several of its shard, or a spare
	slice  uint64
	node   NodeID
	state  NodeState
	remove bool
}

// Move starts the move of a slice at an operator's request, regardless of the
// budget and of recent moves. Errors: fault.Unavailable before the first plan, fault.NotFound
// for an unknown slice or node, fault.Conflict when it cannot move there.
func (m *Mapper) Move(now time.Duration, slice uint64, node string) error {
	const op = "balance: move"
	now = m.time.at(now)
	n, err := m.named(op, node)
	if err != nil {
		return err
	}
	s, ok := m.slice(slice)
	if !ok {
		return fault.Newf(fault.NotFound, op, "there is no slice %d", slice)
	}
	j := m.plan.judgeNow(now)
	why := j.refuses(s, n.ID, j.weigh(s).Weight)
	if why == "" && m.pending(slice) {
		why = "it is about to be changed; try again in a moment"
	}
	if why != "" {
		return fault.Newf(fault.Conflict, op, "slice %d cannot move to node %s: %s", slice, node, why)
	}
	m.commands = append(m.commands, command{slice: slice, node: n.ID})
	m.step(now)
	return nil
}

// pending reports whether a change of the slice waits to be executed or saved.
func (m *Mapper) pending(slice uint64) bool {
	return slices.ContainsFunc(m.commands, func(o command) bool { return o.slice == slice }) ||
		m.views.stages(func(o Op) bool { return o.Slice == slice || o.New == slice })
}

// Drain starts emptying a node, which is Drained once it has no slices left. A slave
// that is a spare or has siblings is drained at once: they answer without it.
// Errors: fault.Unavailable before the first plan, fault.NotFound for an unknown
// node, fault.Conflict when it is already being emptied, or no other node could
// take its slices.
func (m *Mapper) Drain(now time.Duration, node string) error {
	const op = "balance: drain"
	now = m.time.at(now)
	if s, ok := m.single(node); ok {
		return m.orderSlave(now, op, s, command{slave: s.Name, state: Draining})
	}
	n, err := m.named(op, node)
	if err != nil {
		return err
	}
	if n.State != Active {
		return fault.Newf(fault.Conflict, op, "node %s is %s already", node, n.State)
	}
	if !slices.ContainsFunc(m.model.nodes, func(o Node) bool { return o.ID != n.ID && o.State == Active && !m.about(o.ID, Draining) }) {
		return fault.Newf(fault.Conflict, op, "node %s is the last active one: add another slave first", node)
	}
	return m.order(now, n, Draining)
}

// Restore makes a node active again that is Draining or Drained. Errors:
// fault.Unavailable before the first plan, fault.NotFound for an unknown node,
// fault.Conflict when it is active.
func (m *Mapper) Restore(now time.Duration, node string) error {
	const op = "balance: restore"
	now = m.time.at(now)
	if s, ok := m.single(node); ok {
		return m.orderSlave(now, op, s, command{slave: s.Name, state: Active})
	}
	n, err := m.named(op, node)
	if err != nil {
		return err
	}
	if n.State == Active && !m.about(n.ID, Draining) {
		return fault.Newf(fault.Conflict, op, "node %s is active", node)
	}
	return m.order(now, n, Active)
}

// Remove takes a node that is gone for good out of the model; a node of the same
// name that joins later is a new one. Before the first plan it no longer counts
// as joined. Errors: fault.NotFound for an unknown node,
// fault.Conflict while it is alive, has slices or is to get one, or no other is
// active.
func (m *Mapper) Remove(now time.Duration, node string) error {
	const op = "balance: remove"
	now = m.time.at(now)
	if m.model == nil {
		return m.disjoin(now, node)
	}
	if s, ok := m.single(node); ok {
		return m.orderSlave(now, op, s, command{slave: s.Name, remove: true})
	}
	n, err := m.named(op, node)
	if err != nil {
		return err
	}
	if why := m.stays(now, n); why != "" {
		return fault.Newf(fault.Conflict, op, "node %s cannot be removed: %s", node, why)
	}
	m.commands = append(m.commands, command{node: n.ID, remove: true})
	m.step(now)
	return nil
}

// stays returns why a node cannot be removed, or "" if it can.
func (m *Mapper) stays(now time.Duration, n Node) string {
	if silent := m.silence(n.ID, now); silent < m.cfg.DeadAfter {
		return fmt.Sprintf("it was heard from %v ago: stop it first, and wait %v", silent.Round(time.Millisecond), m.cfg.DeadAfter)
	}
	has, other := 0, false
	for _, s := range m.model.slices {
		if s.Node == n.ID || s.Move.Other == n.ID {
			has++
		}
	}
	for _, o := range m.model.nodes {
		other = other || o.ID != n.ID && o.State == Active && !m.about(o.ID, Draining)
	}
	switch {
	case has > 0:
		return "it still has " + counted(has, "slice") + ": drain it, so that they are filled on others, and wait until it is drained"
	case !other:
		return "no other node is active: add one first"
	case m.destined(n.ID):
		return "a slice is about to go there; try again in a moment"
	}
	return ""
}

// destined reports whether a change that is not yet executed or saved moves a
// slice to a node.
func (m *Mapper) destined(n NodeID) bool {
	return slices.ContainsFunc(m.commands, func(o command) bool { return o.slice != 0 && o.node == n }) ||
		m.views.stages(func(o Op) bool { return o.Kind == OpStart && o.Node == n })
}

// disjoin removes a node that joined and went away before the first plan.
func (m *Mapper) disjoin(now time.Duration, node string) error {
	const op = "balance: remove"
	i := slices.IndexFunc(m.joined, func(j Joining) bool { return j.Name == node })
	switch {
	case m.views.staged != nil || !m.loaded:
		return m.noPlan()
	case i < 0:
		return fault.Newf(fault.NotFound, op, "there is no node %s", node)
	case m.alive(node, now):
		return fault.Newf(fault.Conflict, op, "node %s cannot be removed: it is alive; stop it first, and wait %v", node, m.cfg.DeadAfter)
	}
	m.joined = slices.Delete(m.joined, i, i+1)
	delete(m.nodes, node)
	return nil
}

// forgetNode drops all state of a removed node.
func (m *Mapper) forgetNode(n NodeID) {
	delete(m.plan.rests, n)
	m.loads.forget(n)
}

// forgetSlaves drops all state of slaves that are not in the model any more. One that
// has joined again meanwhile is to be admitted as another; one that has only
// reported must join first, which the answer to its next report asks for.
func (m *Mapper) forgetSlaves(old *Model) {
	if old == nil {
		return
	}
	for _, s := range old.slaves {
		if _, stays := m.model.Slave(s.Name); stays {
			continue
		}
		if slices.ContainsFunc(m.joined, func(j Joining) bool { return j.Name == s.Name }) {
			m.node(s.Name).id = 0
		} else {
			delete(m.nodes, s.Name)
			m.verify.setUnverified(s.Name, false)
		}
	}
}

func (m *Mapper) order(now time.Duration, n Node, state NodeState) error {
	m.commands = append(m.commands, command{node: n.ID, state: state})
	m.step(now)
	return nil
}

// about reports whether a pending change gives a node a state.
func (m *Mapper) about(n NodeID, state NodeState) bool {
	return slices.ContainsFunc(m.commands, func(o command) bool { return o.slice == 0 && o.node == n && o.state == state }) ||
		m.views.stages(func(o Op) bool { return o.Kind == OpState && o.Node == n && o.State == state })
}

// Pause stops or resumes iterations and the evacuation of lost nodes. Moves under
// way end, sooner than otherwise: they are awaited. Commands are not affected.
func (m *Mapper) Pause(paused bool) { m.paused = paused }

// Use switches to another strategy at once, or to the same one with other options.
// It begins without memory, as does the one before it.
func (m *Mapper) Use(now time.Duration, s Strategy) {
	now = m.time.at(now)
	for _, name := range []string{m.plan.strategy.Name(), s.Name()} {
		m.plan.forgot = m.plan.recall.keep(name, nil) || m.plan.forgot
	}
	m.plan.strategy = s
	m.plan.next, m.plan.idle = now, 0
	m.event(Event{Text: "the strategy is " + s.Name()})
	m.step(now)
}

// named returns the node with a name, or that of the slave with this name.
func (m *Mapper) named(op, node string) (Node, error) {
	if m.model == nil {
		return Node{}, m.noPlan()
	}
	if n, ok := m.model.Named(node); ok {
		return n, nil
	}
	s, _ := m.model.Slave(node)
	if n, ok := m.model.Node(s.Node); ok {
		return n, nil
	}
	return Node{}, fault.Newf(fault.NotFound, op, "there is no node %s", node)
}

func (m *Mapper) noPlan() error {
	return fault.Newf(fault.Unavailable, "balance: mapper", "there is no plan yet: %s", m.Waiting())
}
