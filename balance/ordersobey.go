package balance

import (
	"time"

	"adshard/fault"
)

// obey executes the orders, and makes empty nodes Drained.
func (q *orders) obey(now time.Duration, e *lazyEdit, why causes) {
	for _, o := range q.waiting {
		if o.slave != "" {
			e.try(func(e *Edit) error { return q.obeySlave(now, e, o) })
			continue
		}
		if o.remove {
			e.try(func(e *Edit) error { return q.removeNode(now, e, o.node) })
			continue
		}
		if o.slice == 0 {
			e.try(func(e *Edit) error { return e.SetState(o.node, o.state) })
			continue
		}
		why[causeOf{o.slice, 0}] = cause{text: "by command", commanded: true}
		e.try(func(e *Edit) error { return e.Start(o.slice, o.node) })
	}
	q.waiting = nil
	for _, n := range q.plan.drained {
		switch s, _ := q.model.Node(n); s.State {
		case Draining:
			e.try(func(e *Edit) error { return e.SetState(n, Drained) })
		case Dissolving:
			e.try(func(e *Edit) error { return q.end(e, n) })
		}
	}
	q.plan.drained = q.plan.drained[:0]
}

// end removes a shard that has no slices left; its slaves are spares.
func (q *orders) end(e *Edit, id NodeID) error {
	for _, s := range q.model.Replicas(id) {
		if err := e.Release(s.Name); err != nil {
			return err
		}
	}
	return e.Remove(id)
}

// removeNode removes a node unless it has come back since the order.
func (q *orders) removeNode(now time.Duration, e *Edit, id NodeID) error {
	if n, ok := q.model.Node(id); ok && q.silence(id, now) < q.cfg.DeadAfter {
		return fault.Newf(fault.Conflict, "balance: remove", "node %s is not removed: it has come back", n.Name)
	}
	return e.Remove(id)
}
