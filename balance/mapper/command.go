package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
)

// Move starts the move of a slice at an operator's request, regardless of the
// budget and of recent moves. Errors: fault.Unavailable before the first plan, fault.NotFound
// for an unknown slice or shard, fault.Conflict when it cannot move there.
func (m *Mapper) Move(now time.Duration, slice uint64, name string) error {
	return m.order(now, func(now time.Duration) error { return m.orders.move(now, slice, name) })
}

// Drain starts emptying a shard, which is Drained once it has no slices left. A slave
// that is a spare or has siblings is drained at once: they answer without it.
// Errors: fault.Unavailable before the first plan, fault.NotFound for an unknown
// shard, fault.Conflict when it is already being emptied, or no other shard could
// take its slices.
func (m *Mapper) Drain(now time.Duration, name string) error {
	return m.order(now, func(now time.Duration) error { return m.orders.drain(now, name) })
}

// Restore makes a shard active again that is Draining or Drained. Errors:
// fault.Unavailable before the first plan, fault.NotFound for an unknown shard,
// fault.Conflict when it is active.
func (m *Mapper) Restore(now time.Duration, name string) error {
	return m.order(now, func(now time.Duration) error { return m.orders.restore(now, name) })
}

// Remove takes a shard that is gone for good out of the model; a shard of the same
// name that joins later is a new one. Before the first plan it no longer counts
// as joined. Errors: fault.NotFound for an unknown shard,
// fault.Conflict while it is alive, has slices or is to get one, or no other is
// active.
func (m *Mapper) Remove(now time.Duration, name string) error {
	if m.Cluster.Model == nil {
		err := m.joining.remove(m.Time.At(now), name)
		if err == nil {
			m.forget(name)
		}
		return err
	}
	return m.order(now, func(now time.Duration) error { return m.orders.remove(now, name) })
}

// order gives an order, and executes it if it is accepted.
func (m *Mapper) order(now time.Duration, give func(now time.Duration) error) error {
	now = m.Time.At(now)
	if m.Cluster.Model == nil {
		return m.joining.noPlan()
	}
	if err := give(now); err != nil {
		return err
	}
	m.step(now)
	return nil
}

// forgetSlaves drops all state of slaves that are not in the model any more. One that
// has joined again meanwhile is to be admitted as another; one that has only
// reported must join first, which the answer to its next report asks for.
func (m *Mapper) forgetSlaves(old *balance.Model) {
	if old == nil {
		return
	}
	for _, s := range old.Slaves() {
		if _, stays := m.Cluster.Model.Slave(s.Name); stays {
			continue
		}
		if m.joining.index(s.Name) >= 0 {
			m.Slave(s.Name).Id = 0
		} else {
			m.forget(s.Name)
			m.verify.SetUnverified(s.Name, false)
		}
	}
}

// forget drops what is known of a slave.
func (m *Mapper) forget(slave string) {
	delete(m.Slaves, slave)
	m.members.Forget(slave)
	m.moves.Forget(slave)
}

// Pause stops or resumes iterations and the evacuation of lost shards. Moves under
// way end, sooner than otherwise: they are awaited. Commands are not affected.
func (m *Mapper) Pause(paused bool) { m.Paused = paused }

// Use switches to another strategy at once, or to the same one with other options.
// It begins without memory, as does the one before it.
func (m *Mapper) Use(now time.Duration, s balance.Strategy) {
	now = m.Time.At(now)
	m.plan.Use(now, s)
	m.Event(cluster.Event{Text: "the strategy is " + s.Name()})
	m.step(now)
}

// Replicas returns how many slaves are to hold each slice.
func (m *Mapper) Replicas() int { return m.members.Replicas() }

// Settled reports whether the number of replicas is durable.
func (m *Mapper) Settled() bool { return !m.members.Unsaved() && !m.views.Saving() }

// SetReplicas sets how many slaves are to hold each slice. Errors:
// fault.Unavailable before the first plan, fault.Invalid for a number out of range.
func (m *Mapper) SetReplicas(now time.Duration, replicas int) error {
	now = m.Time.At(now)
	if m.Cluster.Model == nil {
		return m.joining.noPlan()
	}
	if replicas < 1 || replicas > balance.MaxReplicas {
		return fault.Field("balance: set replicas", "replicas", "%d replicas are not possible, 1 to %d are", replicas, balance.MaxReplicas)
	}
	m.members.SetReplicas(now, replicas)
	m.step(now)
	return nil
}

// CopyFrom returns the siblings whose store a slave is to copy, in the order in which it
// is to try them, and their shard; none: it is filled by node data, or lacks little. What
// is repaired comes from the source of truth: two slaves that copied each other's damage
// would never be rid of it.
func (m *Mapper) CopyFrom(now time.Duration, name string) (shard string, siblings []balance.Slave) {
	return m.members.CopyFrom(m.Time.At(now), name)
}
