package mapper

import (
	"maps"
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

// nodeInfo is the mapper's state of a node outside of the model.
type nodeInfo struct {
	id          balance.NodeID // of its shard; 0: it has none
	heard       time.Duration  // time of the last message
	incarnation string
	position    balance.Position
	table       balance.Table
	reported    bool // its table, at least once
	trouble     string
	troubled    time.Duration // since when
	bytes       uint64
	moved       time.Duration // when table or offset last changed: it is being filled
	arriving    map[uint64]*arrival
	// caughtUp is when it last had applied all changes up to target, the newest of
	// the report before.
	caughtUp time.Duration
	target   uint64
	copying  *CopyState
	replace  replacement
	whole    whole
	kept     kept
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
	m.restarted(n, "")
	n.replace.looked = 0
	if j.Copied != nil {
		m.members.takeCopy(j.Name, j.Copied)
	}
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
			m.restarted(n, r.Incarnation)
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
		m.loads.Report(now, n.id, m.model, r.Load)
	}
	m.step(now)
	return nil
}

// follows notes how new a slave's data are.
func (m *Mapper) follows(now time.Duration, n *nodeInfo) {
	if n.position.Clock >= n.target {
		n.caughtUp, n.target = now, m.clock
	}
}

// restarted discards the certificates of an earlier incarnation of the node.
func (m *Mapper) restarted(n *nodeInfo, incarnation string) {
	n.incarnation, n.copying = incarnation, nil
	n.target = m.clock
	n.replace.copied, n.replace.source = nil, ""
	n.kept = kept{}
	m.members.reopen(n)
	for _, id := range slices.Sorted(maps.Keys(n.arriving)) { // in order, since they queue up
		m.moves.uncertify(n.arriving[id])
	}
}

// takeTable takes a node's table.
func (m *Mapper) takeTable(now time.Duration, name string, t balance.Table) {
	n := m.nodes[name]
	changed := !n.reported || !n.table.Equal(t)
	if changed {
		n.moved, m.filling = now, true
	}
	n.table, n.reported = t, true
	if changed {
		n.whole = whole{}
		m.members.reserved(n)
		m.members.retain(name, n)
	}
	m.moves.arrived(now, n)
}

// watch looks for nodes silent, and moves stalled, for too long.
func (m *Mapper) watch(now time.Duration) {
	m.views.forgetMasters(now)
	m.verify.expire(now)
	if m.model == nil {
		return
	}
	for _, v := range m.moves.sorted() {
		if v.phase == balance.Copying && !v.switching {
			if why := m.moves.hopeless(now, v); why != "" {
				m.moves.doom(v, why)
			}
			m.moves.queueIfReady(now, v)
		}
	}
	m.plan.emptied(now)
}
