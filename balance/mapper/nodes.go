package mapper

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/fault"
)

// NodeReport is a node's status, sent every second and at once after a change of
// its table. With its table it acknowledges Table.View.
type NodeReport struct {
	Name string
	// Incarnation differs each time the node starts.
	Incarnation string
	Position    balance.Position
	// Table is nil when it is unchanged since the previous report.
	Table *balance.Table
	// Trouble says why the node makes no progress; "" if it does.
	Trouble string
	// Load is nil when nothing was counted.
	Load *load.Report
	// Bytes is the size of the node's data.
	Bytes uint64
	// Copying is nil unless it copies a sibling's store.
	Copying *CopyState
	// Unverified is as in Joining.
	Unverified bool
}

// Join takes a node's announcement, its first or a repeated one.
func (m *Mapper) Join(now time.Duration, j balance.Joining) error {
	now = m.time.at(now)
	if err := j.Table.Check(); err != nil {
		return fault.New(fault.Invalid, "balance: join", err)
	}
	if j.Name == "" {
		return fault.Field("balance: join", "name", "a node needs a name")
	}
	if i := slices.IndexFunc(m.joined, func(o balance.Joining) bool { return o.Name == j.Name }); i >= 0 {
		m.joined[i] = j
	} else {
		m.joined = append(m.joined, j)
	}
	n := m.node(j.Name)
	n.heard, n.position, n.trouble, n.moved = now, j.Position, "", now
	m.restarted(j.Name, n, "")
	m.members.joined(j.Name, j.Copied)
	if j.Foreign {
		j.Table = balance.Table{} // it will be emptied
	}
	m.takeTable(now, j.Name, j.Table)
	m.verify.setUnverified(j.Name, j.Unverified && !j.Foreign)
	m.step(now)
	return nil
}

// Report takes a node's report. Errors: fault.Stale when the node must
// register, or report its table, first.
func (m *Mapper) Report(now time.Duration, r NodeReport) error {
	now = m.time.at(now)
	n := m.nodes[r.Name]
	if n == nil || !n.reported && r.Table == nil {
		return fault.Newf(fault.Stale, "balance: report", "node %s has not reported its table: register again", r.Name)
	}
	if r.Table != nil {
		if err := r.Table.Check(); err != nil {
			return fault.New(fault.Invalid, "balance: report", err)
		}
	}
	n.heard, n.bytes, n.copying = now, r.Bytes, r.Copying
	if r.Trouble != "" && n.trouble == "" {
		n.troubled = now
	}
	n.trouble = r.Trouble
	if n.incarnation != r.Incarnation {
		if n.incarnation != "" {
			m.restarted(r.Name, n, r.Incarnation)
		}
		n.incarnation = r.Incarnation
	}
	if n.position.Offset != r.Position.Offset {
		n.moved = now
	}
	n.position = r.Position
	m.follows(now, n)
	if !r.Unverified {
		m.verify.setUnverified(r.Name, false)
	}
	if r.Table != nil {
		m.takeTable(now, r.Name, *r.Table)
	}
	if r.Load != nil && n.id != 0 {
		r.Load.Slave = r.Name
		m.loads.Report(now, n.id, m.cluster.model, r.Load)
	}
	m.step(now)
	return nil
}

// follows notes how new a slave's data are.
func (m *Mapper) follows(now time.Duration, n *nodeInfo) {
	if n.position.Clock >= n.target {
		n.caughtUp, n.target = now, m.cluster.clock
	}
}

// restarted discards the certificates of an earlier incarnation of the node.
func (m *Mapper) restarted(name string, n *nodeInfo, incarnation string) {
	n.incarnation, n.copying = incarnation, nil
	n.target = m.cluster.clock
	m.members.restarted(name)
	m.moves.restarted(name)
}

// takeTable takes a node's table.
func (m *Mapper) takeTable(now time.Duration, name string, t balance.Table) {
	n := m.nodes[name]
	if n.setTable(now, t) {
		m.filling = true
		m.members.holdsOther(name)
	}
	m.moves.arrived(now, name)
}

// watch looks for nodes silent, and moves stalled, for too long.
func (m *Mapper) watch(now time.Duration) {
	m.views.forgetMasters(now)
	m.verify.expire(now)
	if m.cluster.model == nil {
		return
	}
	m.moves.watch(now)
	m.plan.emptied(now)
}
