package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/fault"
)

// SlaveReport is a slave's status, sent every second and at once after a change of
// its table. With its table it acknowledges Table.View.
type SlaveReport struct {
	Name string
	// Incarnation differs each time the slave starts.
	Incarnation string
	Position    balance.Position
	// Table is nil when it is unchanged since the previous report.
	Table *balance.Table
	// Trouble says why the slave makes no progress; "" if it does.
	Trouble string
	// Load is nil when nothing was counted.
	Load *load.Report
	// Bytes is the size of the slave's data.
	Bytes uint64
	// Copying is nil unless it copies a sibling's store.
	Copying *cluster.CopyState
	// Unverified is as in Joining.
	Unverified bool
}

// Join takes a slave's announcement, its first or a repeated one.
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
		j.Table = balance.Table{} // it will be emptied
	}
	m.takeTable(now, j.Name, j.Table)
	m.verify.SetUnverified(j.Name, j.Unverified && !j.Foreign)
	m.step(now)
	return nil
}

// Report takes a slave's report. Errors: fault.Stale when the slave must
// register, or report its table, first.
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

// follows notes how new a slave's data are.
func (m *Mapper) follows(now time.Duration, n *cluster.Slave) {
	if n.Position.Clock >= n.Target {
		n.CaughtUp, n.Target = now, m.Cluster.Clock
	}
}

// restarted discards the certificates of an earlier incarnation of the slave.
func (m *Mapper) restarted(name string, n *cluster.Slave, incarnation string) {
	n.Incarnation, n.Copying = incarnation, nil
	n.Target = m.Cluster.Clock
	m.members.Restarted(name)
	m.moves.Restarted(name)
}

// takeTable takes a slave's table.
func (m *Mapper) takeTable(now time.Duration, name string, t balance.Table) {
	n := m.Slaves[name]
	if n.SetTable(now, t) {
		m.filling = true
		m.members.HoldsOther(name)
	}
	m.moves.Arrived(now, name)
}

// watch looks for slaves silent, and moves stalled, for too long.
func (m *Mapper) watch(now time.Duration) {
	m.views.ForgetMasters(now)
	m.verify.Expire(now)
	if m.Cluster.Model == nil {
		return
	}
	m.moves.Watch(now)
	m.plan.Emptied(now)
}
