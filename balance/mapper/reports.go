package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/fault"
)

// SlaveReport is a slave's status. It is sent every second, and at once after a change
// of the slave's table. A report with a table acknowledges Table.View.
type SlaveReport struct {
	Name string
	// Incarnation is different for each start of the slave.
	Incarnation string
	Position    balance.Position
	// Table is nil if it has not changed since the previous report.
	Table *balance.Table
	// Trouble says why the slave makes no progress, or is "" if it does.
	Trouble string
	// Load is nil if nothing was counted.
	Load *load.Report
	// Bytes is the size of the slave's data.
	Bytes uint64
	// Copying is nil unless the slave copies a sibling's store.
	Copying *cluster.CopyState
	// Unverified is as in balance.Joining.
	Unverified bool
}

// Join takes a slave's registration, whether it is the first or a repeated one.
func (m *Mapper) Join(now time.Duration, j balance.Joining) error {
	now = m.Time.At(now)
	if err := j.Table.Check(); err != nil {
		return fault.New(fault.Invalid, "balance: join", err)
	}
	if j.Name == "" {
		return fault.Field("balance: join", "name", "a slave needs a name")
	}
	m.joining.add(j)
	n := m.Slave(j.Name)
	n.Heard, n.Position, n.Trouble, n.Moved = now, j.Position, "", now
	m.restarted(j.Name, n, "")
	m.members.Joined(j.Name, j.Copied)
	if j.Foreign {
		j.Table = balance.Table{} // the slave will be emptied
	}
	m.takeTable(now, j.Name, j.Table)
	m.verify.SetUnverified(j.Name, j.Unverified && !j.Foreign)
	m.step(now)
	return nil
}

// Report takes a slave's report. Errors: fault.Stale if the slave must first register,
// or report its table.
func (m *Mapper) Report(now time.Duration, r SlaveReport) error {
	now = m.Time.At(now)
	n := m.Slaves[r.Name]
	if n == nil || !n.Reported && r.Table == nil {
		return fault.Newf(fault.Stale, "balance: report", "slave %s has not reported its table: register again", r.Name)
	}
	if r.Table != nil {
		if err := r.Table.Check(); err != nil {
			return fault.New(fault.Invalid, "balance: report", err)
		}
	}
	n.Heard, n.Bytes, n.Copying = now, r.Bytes, r.Copying
	if r.Trouble != "" && n.Trouble == "" {
		n.Troubled = now
	}
	n.Trouble = r.Trouble
	if n.Incarnation != r.Incarnation {
		if n.Incarnation != "" {
			m.restarted(r.Name, n, r.Incarnation)
		}
		n.Incarnation = r.Incarnation
	}
	if n.Position.Offset != r.Position.Offset {
		n.Moved = now
	}
	n.Position = r.Position
	m.follows(now, n)
	if !r.Unverified {
		m.verify.SetUnverified(r.Name, false)
	}
	if r.Table != nil {
		m.takeTable(now, r.Name, *r.Table)
	}
	if r.Load != nil && n.Id != 0 {
		r.Load.Slave = r.Name
		m.Loads.Report(now, n.Id, m.Cluster.Model, r.Load)
	}
	m.step(now)
	return nil
}

// follows records when the slave was last up to date.
func (m *Mapper) follows(now time.Duration, n *cluster.Slave) {
	if n.Position.Clock >= n.Target {
		n.CaughtUp, n.Target = now, m.Cluster.Clock
	}
}

// restarted resets the state that belongs to an earlier incarnation of the slave.
func (m *Mapper) restarted(name string, n *cluster.Slave, incarnation string) {
	n.Incarnation, n.Copying = incarnation, nil
	n.Target = m.Cluster.Clock
	m.members.Restarted(name)
	m.moves.Restarted(name)
}

// takeTable takes a table that a slave has reported.
func (m *Mapper) takeTable(now time.Duration, name string, t balance.Table) {
	n := m.Slaves[name]
	if n.SetTable(now, t) {
		m.filling = true
		m.members.HoldsOther(name)
	}
	m.moves.Arrived(now, name)
}

// watch looks for slaves that have been silent, and moves that have stalled, for too
// long.
func (m *Mapper) watch(now time.Duration) {
	m.views.ForgetMasters(now)
	m.verify.Expire(now)
	if m.Cluster.Model == nil {
		return
	}
	m.moves.Watch(now)
	m.plan.Emptied(now)
}
