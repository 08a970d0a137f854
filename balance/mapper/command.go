package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
)

// Move starts the move of a slice at an operator's request, regardless of the budget and of
// recent moves. Errors: fault.Unavailable before the first plan, fault.NotFound if the slice
// or shard is unknown, fault.Conflict if the slice cannot move there.
func (m *Mapper) Move(now time.Duration, slice uint64, name string) error {
	return m.order(now, func(now time.Duration) error { return m.orders.move(now, slice, name) })
}

// Drain starts to empty a shard, which becomes Drained when it has no slices left. A slave
// that is a spare or has siblings is drained at once, since queries are answered without it.
// Errors: fault.Unavailable before the first plan, fault.NotFound if the shard is unknown,
// fault.Conflict if it is already being emptied or no other shard could take its slices.
func (m *Mapper) Drain(now time.Duration, name string) error {
	return m.order(now, func(now time.Duration) error { return m.orders.drain(now, name) })
}

// Restore makes a Draining or Drained shard active again. Errors: fault.Unavailable before
// the first plan, fault.NotFound if the shard is unknown, fault.Conflict if it is active.
func (m *Mapper) Restore(now time.Duration, name string) error {
	return m.order(now, func(now time.Duration) error { return m.orders.restore(now, name) })
}

// Remove removes a shard that is gone for good from the model. If a shard of the same name
// joins later, it is a new one. Before the first plan, a removed slave is treated as if it
// had not joined. Errors: fault.NotFound if the shard is unknown; fault.Conflict if it is
// alive, has slices or is to get one, or if no other shard is active.
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

// forgetSlaves drops all state of slaves that are no longer in the model. If such a slave has
// joined again meanwhile, it is admitted as a new one. If it has only sent reports, the
// answer to the next one asks it to join.
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

// forget drops all state of a slave.
func (m *Mapper) forget(slave string) {
	delete(m.Slaves, slave)
	m.members.Forget(slave)
	m.moves.Forget(slave)
}

// Pause stops or resumes iterations and the evacuation of lost shards. Moves under way end as
// usual, but sooner, since they are now urgent. Commands are not affected.
func (m *Mapper) Pause(paused bool) { m.Paused = paused }

// Use switches at once to another strategy, or to the same one with other options. The new
// strategy begins without memory, and the old one loses its own.
func (m *Mapper) Use(now time.Duration, s balance.Strategy) {
	now = m.Time.At(now)
	m.plan.Use(now, s)
	m.Event(cluster.Event{Text: "the strategy is " + s.Name()})
	m.step(now)
}

// Replicas returns the number of slaves that are to hold each slice.
func (m *Mapper) Replicas() int { return m.members.Replicas() }

// Settled reports whether the number of replicas is durable.
func (m *Mapper) Settled() bool { return !m.members.Unsaved() && !m.views.Saving() }

// SetReplicas sets the number of slaves that are to hold each slice. Errors:
// fault.Unavailable before the first plan, fault.Invalid if the number is out of range.
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

// CopyFrom returns the siblings whose store a slave may copy, in the order in which it is to
// try them, and their shard. It returns no siblings if the slave is to be filled by node
// data, or lacks little. Damaged data are always filled from the source of truth: if two
// slaves copied each other's damage, they would never get rid of it.
func (m *Mapper) CopyFrom(now time.Duration, name string) (shard string, siblings []balance.Slave) {
	return m.members.CopyFrom(m.Time.At(now), name)
}
