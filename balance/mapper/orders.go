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

// orders has the orders of operators. They are accepted or rejected at once, and executed with the next change of
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

// command moves a slice to a shard. If slice is 0, it sets the state of a shard or slave, or removes it.
type command struct {
	slave  string // one of several of its shard, or a spare
	slice  uint64
	shard  balance.ShardID
	state  balance.ShardState
	remove bool
}

// move orders the move of a slice to a shard.
func (q *orders) move(now time.Duration, slice uint64, name string) error {
	const op = "balance: move"
	sh, err := q.named(op, name)
	if err != nil {
		return err
	}
	s, ok := q.Slice(slice)
	if !ok {
		return fault.Newf(fault.NotFound, op, "there is no slice %d", slice)
	}
	why := q.plan.Refuses(now, s, sh.ID)
	if why == "" && q.pending(slice) {
		why = "it is about to be changed; try again in a moment"
	}
	if why != "" {
		return fault.Newf(fault.Conflict, op, "slice %d cannot move to shard %s: %s", slice, name, why)
	}
	q.waiting = append(q.waiting, command{slice: slice, shard: sh.ID})
	return nil
}

// pending reports whether a change of the slice waits to be executed or saved.
func (q *orders) pending(slice uint64) bool {
	return slices.ContainsFunc(q.waiting, func(o command) bool { return o.slice == slice }) ||
		q.views.Stages(func(o balance.Op) bool { return o.Slice == slice || o.New == slice })
}

// drain orders a shard or a slave to be emptied.
func (q *orders) drain(now time.Duration, name string) error {
	const op = "balance: drain"
	if s, ok := q.single(name); ok {
		return q.orderSlave(now, op, s, command{slave: s.Name, state: balance.Draining})
	}
	sh, err := q.named(op, name)
	if err != nil {
		return err
	}
	if sh.State != balance.Active {
		return fault.Newf(fault.Conflict, op, "shard %s is %s already", name, sh.State)
	}
	if !slices.ContainsFunc(q.Model.Shards(), func(o balance.Shard) bool {
		return o.ID != sh.ID && o.State == balance.Active && !q.about(o.ID, balance.Draining)
	}) {
		return fault.Newf(fault.Conflict, op, "shard %s is the last active one: add another slave first", name)
	}
	q.waiting = append(q.waiting, command{shard: sh.ID, state: balance.Draining})
	return nil
}

// restore orders a shard or a slave to be made active again.
func (q *orders) restore(now time.Duration, name string) error {
	const op = "balance: restore"
	if s, ok := q.single(name); ok {
		return q.orderSlave(now, op, s, command{slave: s.Name, state: balance.Active})
	}
	sh, err := q.named(op, name)
	if err != nil {
		return err
	}
	if sh.State == balance.Active && !q.about(sh.ID, balance.Draining) {
		return fault.Newf(fault.Conflict, op, "shard %s is active", name)
	}
	q.waiting = append(q.waiting, command{shard: sh.ID, state: balance.Active})
	return nil
}

// remove orders a shard or a slave to be removed from the model.
func (q *orders) remove(now time.Duration, name string) error {
	const op = "balance: remove"
	if s, ok := q.single(name); ok {
		return q.orderSlave(now, op, s, command{slave: s.Name, remove: true})
	}
	sh, err := q.named(op, name)
	if err != nil {
		return err
	}
	if why := q.stays(now, sh); why != "" {
		return fault.Newf(fault.Conflict, op, "shard %s cannot be removed: %s", name, why)
	}
	q.waiting = append(q.waiting, command{shard: sh.ID, remove: true})
	return nil
}

// stays returns why a shard cannot be removed, or "" if it can.
func (q *orders) stays(now time.Duration, sh balance.Shard) string {
	if silent := q.Silence(sh.ID, now); silent < q.Config.DeadAfter {
		return fmt.Sprintf("it was heard from %v ago: stop it first, and wait %v", silent.Round(time.Millisecond), q.Config.DeadAfter)
	}
	has, other := 0, false
	for _, s := range q.Model.Slices() {
		if s.Shard == sh.ID || s.Move.Other == sh.ID {
			has++
		}
	}
	for _, o := range q.Model.Shards() {
		other = other || o.ID != sh.ID && o.State == balance.Active && !q.about(o.ID, balance.Draining)
	}
	switch {
	case has > 0:
		return "it still has " + cluster.Counted(has, "slice") + ": drain it, so that they are filled on others, and wait until it is drained"
	case !other:
		return "no other shard is active: add one first"
	case q.destined(sh.ID):
		return "a slice is about to go there; try again in a moment"
	}
	return ""
}

// destined reports whether a change that is not yet executed or saved moves a slice to a shard.
func (q *orders) destined(shard balance.ShardID) bool {
	return slices.ContainsFunc(q.waiting, func(o command) bool { return o.slice != 0 && o.shard == shard }) ||
		q.views.Stages(func(o balance.Op) bool { return o.Kind == balance.OpStart && o.Shard == shard })
}

// about reports whether a pending change gives a shard a state.
func (q *orders) about(shard balance.ShardID, state balance.ShardState) bool {
	return slices.ContainsFunc(q.waiting, func(o command) bool { return o.slice == 0 && o.shard == shard && o.state == state }) ||
		q.views.Stages(func(o balance.Op) bool { return o.Kind == balance.OpState && o.Shard == shard && o.State == state })
}

// named returns the shard with a name, or the shard of the slave with that name.
func (q *orders) named(op, name string) (balance.Shard, error) {
	if sh, ok := q.Model.Named(name); ok {
		return sh, nil
	}
	s, _ := q.Model.Slave(name)
	if sh, ok := q.Model.Shard(s.Shard); ok {
		return sh, nil
	}
	return balance.Shard{}, fault.Newf(fault.NotFound, op, "there is no shard %s", name)
}

// obey executes the orders, and changes the state of draining shards without slices to Drained.
func (q *orders) obey(now time.Duration, e *cluster.Edit, why cluster.Causes) {
	for _, o := range q.waiting {
		if o.slave != "" {
			e.Try(func(e *balance.Edit) error { return q.obeySlave(now, e, o) })
			continue
		}
		if o.remove {
			e.Try(func(e *balance.Edit) error { return q.removeShard(now, e, o.shard) })
			continue
		}
		if o.slice == 0 {
			e.Try(func(e *balance.Edit) error { return e.SetState(o.shard, o.state) })
			continue
		}
		why.SetMove(o.slice, cluster.Cause{Text: "by command", Commanded: true})
		e.Try(func(e *balance.Edit) error { return e.Start(o.slice, o.shard) })
	}
	q.waiting = nil
	for _, shard := range q.plan.TakeDrained() {
		switch s, _ := q.Model.Shard(shard); s.State {
		case balance.Draining:
			e.Try(func(e *balance.Edit) error { return e.SetState(shard, balance.Drained) })
		case balance.Dissolving:
			e.Try(func(e *balance.Edit) error { return q.end(e, shard) })
		}
	}
}

// end removes a shard that has no slices left. Its slaves become spares.
func (q *orders) end(e *balance.Edit, id balance.ShardID) error {
	for _, s := range q.Model.Replicas(id) {
		if err := e.Release(s.Name); err != nil {
			return err
		}
	}
	return e.Remove(id)
}

// removeShard removes a shard, unless it has come back since the order.
func (q *orders) removeShard(now time.Duration, e *balance.Edit, id balance.ShardID) error {
	if sh, ok := q.Model.Shard(id); ok && q.Silence(id, now) < q.Config.DeadAfter {
		return fault.Newf(fault.Conflict, "balance: remove", "shard %s is not removed: it has come back", sh.Name)
	}
	return e.Remove(id)
}
