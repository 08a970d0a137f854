package mapper

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// Orders about slaves that are spares or have siblings. An order about the only slave
// of a shard is an order about the shard.

// single returns the slave with a name; ok is false unless the slave is a spare or has
// siblings.
func (q *orders) single(name string) (balance.Slave, bool) {
	s, ok := q.Model.Slave(name)
	return s, ok && (s.Shard == 0 || len(q.Model.Replicas(s.Shard)) > 1)
}

// orderSlave accepts an order about a single slave, or returns an error.
func (q *orders) orderSlave(now time.Duration, op string, s balance.Slave, o command) error {
	if why := q.cannot(now, s, o, nil); why != "" {
		return fault.Newf(fault.Conflict, op, "slave %s: %s", s.Name, why)
	}
	q.waiting = append(q.waiting, o)
	return nil
}

// cannot returns why an order about a slave is impossible after an edit, or "" if it is
// possible.
func (q *orders) cannot(now time.Duration, s balance.Slave, o command, e *balance.Edit) string {
	needed := s.In && q.members.Remaining(now, s, e) == 0
	switch {
	case o.remove && q.Alive(s.Name, now):
		return fmt.Sprintf("it was heard from %v ago: stop it first, and wait %v",
			(now - q.Slave(s.Name).Heard).Round(time.Millisecond), q.Config.DeadAfter)
	case o.remove && needed:
		return "no other replica of its shard serves now: wait until one does"
	case o.remove:
	case o.state == balance.Active && !s.Drained:
		return "it is not drained"
	case o.state == balance.Draining && s.Drained:
		return "it is drained already"
	case o.state == balance.Draining && needed:
		return "no other replica of its shard serves now: wait until one does"
	}
	return ""
}

// obeySlave executes an order about a slave, or returns an error if it has become
// impossible.
func (q *orders) obeySlave(now time.Duration, e *balance.Edit, o command) error {
	s, ok := q.Model.Slave(o.slave)
	if !ok {
		return fault.Newf(fault.NotFound, "balance: obey", "there is no slave %s", o.slave)
	}
	if why := q.cannot(now, s, o, e); why != "" {
		return fault.Newf(fault.Conflict, "balance: obey", "slave %s: %s", s.Name, why)
	}
	if s.Shard != 0 {
		if err := e.Release(s.Name); err != nil {
			return err
		}
	}
	if o.remove {
		return e.Forget(s.Name)
	}
	return e.Retire(s.Name, o.state == balance.Draining)
}
