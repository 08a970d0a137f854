package mapper

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/maps"
	"adshard/balance/plan"
	"adshard/balance/replicas"
	"adshard/fault"
)

// orders are what operators have ordered: they are accepted or refused at once, and executed with the next change of
// the model.
type orders struct {
	*cluster.Cluster
	plan    *plan.Planner
	views   *maps.Views
	members *replicas.Membership

	waiting []command
}

func newOrders(c *cluster.Cluster, p *plan.Planner, v *maps.Views, m *replicas.Membership) *orders {
	return &orders{Cluster: c, plan: p, views: v, members: m}
}

// command moves a slice to a node or, with slice 0, sets a node's or a slave's state
// or removes it.
type command struct {
	slave  string // one of several of its shard, or a spare
	slice  uint64
	node   balance.NodeID
	state  balance.NodeState
	remove bool
}

// move has a slice moved to a node.
func (q *orders) move(now time.Duration, slice uint64, node string) error {
	const op = "balance: move"
	n, err := q.named(op, node)
	if err != nil {
		return err
	}
	s, ok := q.Slice(slice)
	if !ok {
		return fault.Newf(fault.NotFound, op, "there is no slice %d", slice)
	}
	why := q.plan.Refuses(now, s, n.ID)
	if why == "" && q.pending(slice) {
		why = "it is about to be changed; try again in a moment"
	}
	if why != "" {
		return fault.Newf(fault.Conflict, op, "slice %d cannot move to node %s: %s", slice, node, why)
	}
	q.waiting = append(q.waiting, command{slice: slice, node: n.ID})
	return nil
}

// pending reports whether a change of the slice waits to be executed or saved.
func (q *orders) pending(slice uint64) bool {
	return slices.ContainsFunc(q.waiting, func(o command) bool { return o.slice == slice }) ||
		q.views.Stages(func(o balance.Op) bool { return o.Slice == slice || o.New == slice })
}

// drain has a node or a slave emptied.
func (q *orders) drain(now time.Duration, node string) error {
	const op = "balance: drain"
	if s, ok := q.single(node); ok {
		return q.orderSlave(now, op, s, command{slave: s.Name, state: balance.Draining})
	}
	n, err := q.named(op, node)
	if err != nil {
		return err
	}
	if n.State != balance.Active {
		return fault.Newf(fault.Conflict, op, "node %s is %s already", node, n.State)
	}
	if !slices.ContainsFunc(q.Model.Nodes(), func(o balance.Node) bool {
		return o.ID != n.ID && o.State == balance.Active && !q.about(o.ID, balance.Draining)
	}) {
		return fault.Newf(fault.Conflict, op, "node %s is the last active one: add another slave first", node)
	}
	q.waiting = append(q.waiting, command{node: n.ID, state: balance.Draining})
	return nil
}

// restore makes a node or a slave active again.
func (q *orders) restore(now time.Duration, node string) error {
	const op = "balance: restore"
	if s, ok := q.single(node); ok {
		return q.orderSlave(now, op, s, command{slave: s.Name, state: balance.Active})
	}
	n, err := q.named(op, node)
	if err != nil {
		return err
	}
	if n.State == balance.Active && !q.about(n.ID, balance.Draining) {
		return fault.Newf(fault.Conflict, op, "node %s is active", node)
	}
	q.waiting = append(q.waiting, command{node: n.ID, state: balance.Active})
	return nil
}

// remove takes a node or a slave out of the model.
func (q *orders) remove(now time.Duration, node string) error {
	const op = "balance: remove"
	if s, ok := q.single(node); ok {
		return q.orderSlave(now, op, s, command{slave: s.Name, remove: true})
	}
	n, err := q.named(op, node)
	if err != nil {
		return err
	}
	if why := q.stays(now, n); why != "" {
		return fault.Newf(fault.Conflict, op, "node %s cannot be removed: %s", node, why)
	}
	q.waiting = append(q.waiting, command{node: n.ID, remove: true})
	return nil
}

// stays returns why a node cannot be removed, or "" if it can.
func (q *orders) stays(now time.Duration, n balance.Node) string {
	if silent := q.Silence(n.ID, now); silent < q.Config.DeadAfter {
		return fmt.Sprintf("it was heard from %v ago: stop it first, and wait %v", silent.Round(time.Millisecond), q.Config.DeadAfter)
	}
	has, other := 0, false
	for _, s := range q.Model.Slices() {
		if s.Node == n.ID || s.Move.Other == n.ID {
			has++
		}
	}
	for _, o := range q.Model.Nodes() {
		other = other || o.ID != n.ID && o.State == balance.Active && !q.about(o.ID, balance.Draining)
	}
	switch {
	case has > 0:
		return "it still has " + cluster.Counted(has, "slice") + ": drain it, so that they are filled on others, and wait until it is drained"
	case !other:
		return "no other node is active: add one first"
	case q.destined(n.ID):
		return "a slice is about to go there; try again in a moment"
	}
	return ""
}

// destined reports whether a change that is not yet executed or saved moves a
// slice to a node.
func (q *orders) destined(n balance.NodeID) bool {
	return slices.ContainsFunc(q.waiting, func(o command) bool { return o.slice != 0 && o.node == n }) ||
		q.views.Stages(func(o balance.Op) bool { return o.Kind == balance.OpStart && o.Node == n })
}

// about reports whether a pending change gives a node a state.
func (q *orders) about(n balance.NodeID, state balance.NodeState) bool {
	return slices.ContainsFunc(q.waiting, func(o command) bool { return o.slice == 0 && o.node == n && o.state == state }) ||
		q.views.Stages(func(o balance.Op) bool { return o.Kind == balance.OpState && o.Node == n && o.State == state })
}

// named returns the node with a name, or that of the slave with this name.
func (q *orders) named(op, node string) (balance.Node, error) {
	if n, ok := q.Model.Named(node); ok {
		return n, nil
	}
	s, _ := q.Model.Slave(node)
	if n, ok := q.Model.Node(s.Node); ok {
		return n, nil
	}
	return balance.Node{}, fault.Newf(fault.NotFound, op, "there is no node %s", node)
}

// obey executes the orders, and makes empty nodes Drained.
func (q *orders) obey(now time.Duration, e *cluster.Edit, why cluster.Causes) {
	for _, o := range q.waiting {
		if o.slave != "" {
			e.Try(func(e *balance.Edit) error { return q.obeySlave(now, e, o) })
			continue
		}
		if o.remove {
			e.Try(func(e *balance.Edit) error { return q.removeNode(now, e, o.node) })
			continue
		}
		if o.slice == 0 {
			e.Try(func(e *balance.Edit) error { return e.SetState(o.node, o.state) })
			continue
		}
		why.SetMove(o.slice, cluster.Cause{Text: "by command", Commanded: true})
		e.Try(func(e *balance.Edit) error { return e.Start(o.slice, o.node) })
	}
	q.waiting = nil
	for _, n := range q.plan.TakeDrained() {
		switch s, _ := q.Model.Node(n); s.State {
		case balance.Draining:
			e.Try(func(e *balance.Edit) error { return e.SetState(n, balance.Drained) })
		case balance.Dissolving:
			e.Try(func(e *balance.Edit) error { return q.end(e, n) })
		}
	}
}

// end removes a shard that has no slices left; its slaves are spares.
func (q *orders) end(e *balance.Edit, id balance.NodeID) error {
	for _, s := range q.Model.Replicas(id) {
		if err := e.Release(s.Name); err != nil {
			return err
		}
	}
	return e.Remove(id)
}

// removeNode removes a node unless it has come back since the order.
func (q *orders) removeNode(now time.Duration, e *balance.Edit, id balance.NodeID) error {
	if n, ok := q.Model.Node(id); ok && q.Silence(id, now) < q.Config.DeadAfter {
		return fault.Newf(fault.Conflict, "balance: remove", "node %s is not removed: it has come back", n.Name)
	}
	return e.Remove(id)
}
