package balance

import (
	"fmt"
	"time"

	"adshard/fault"
)

// Commands about slaves that are spares, or replicas beside others. A command about
// the only slave of a shard concerns the shard.

// single returns a slave that is a spare or has siblings.
func (m *Mapper) single(name string) (Slave, bool) {
	if m.model == nil {
		return Slave{}, false
	}
	s, ok := m.model.Slave(name)
	return s, ok && (s.Node == 0 || len(m.model.Replicas(s.Node)) > 1)
}

// orderSlave takes a command about a single slave.
func (m *Mapper) orderSlave(now time.Duration, op string, s Slave, o command) error {
	if why := m.cannot(now, s, o, nil); why != "" {
		return fault.Newf(fault.Conflict, op, "slave %s: %s", s.Name, why)
	}
	m.commands = append(m.commands, o)
	m.step(now)
	return nil
}

// cannot returns why a command about a slave is impossible after an edit, or "".
func (m *Mapper) cannot(now time.Duration, s Slave, o command, e *Edit) string {
	needed := s.In && m.members.remaining(now, s, e) == 0
	switch {
	case o.remove && m.alive(s.Name, now):
		return fmt.Sprintf("it was heard from %v ago: stop it first, and wait %v",
			(now - m.node(s.Name).heard).Round(time.Millisecond), m.cfg.DeadAfter)
	case o.remove && needed:
		return "no other replica of its shard serves now: wait until one does"
	case o.remove:
	case o.state == Active && !s.Drained:
		return "it is not drained"
	case o.state == Draining && s.Drained:
		return "it is drained already"
	case o.state == Draining && needed:
		return "no other replica of its shard serves now: wait until one does"
	}
	return ""
}

// obeySlave executes a command about a slave, unless it has become impossible.
func (m *Mapper) obeySlave(now time.Duration, e *Edit, o command) error {
	s, ok := m.model.Slave(o.slave)
	if !ok {
		return fault.Newf(fault.NotFound, "balance: obey", "there is no slave %s", o.slave)
	}
	if why := m.cannot(now, s, o, e); why != "" {
		return fault.Newf(fault.Conflict, "balance: obey", "slave %s: %s", s.Name, why)
	}
	if s.Node != 0 {
		if err := e.Release(s.Name); err != nil {
			return err
		}
	}
	if o.remove {
		return e.Forget(s.Name)
	}
	return e.Retire(s.Name, o.state == Draining)
}
