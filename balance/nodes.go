package balance

import (
	"slices"
	"time"

	"adshard/fault"
)

// NodeReport is what a node says of itself every second, and at once when its
// table has changed. With its table it acknowledges Table.View.
type NodeReport struct {
	Name string
	// Incarnation is another one each time the node starts.
	Incarnation string
	Position    Position
	// Table is nil when it is as in the report before.
	Table *Table
	// Trouble says why the node does not go on; "": it does.
	Trouble string
	// Load is nil when nothing was counted.
	Load *LoadReport
	// Bytes is the size of the node's data.
	Bytes uint64
}

// nodeState is what is known of a node beside the model.
type nodeState struct {
	id          NodeID        // 0: not in the model
	heard       time.Duration // last heard of
	incarnation string
	position    Position
	table       Table
	told        bool // table is known
	trouble     string
	troubled    time.Duration // since when
	bytes       uint64
	moved       time.Duration // when table or offset last changed: it is being filled
	arriving    map[uint64]*move
}

// node returns what is known of a node, heard of now if it is new.
func (m *Mapper) node(name string) *nodeState {
	n := m.nodes[name]
	if n == nil {
		n = &nodeState{heard: m.time.now, arriving: map[uint64]*move{}}
		m.nodes[name] = n
	}
	return n
}

// alive tells whether a node of the model was heard of lately.
func (m *Mapper) alive(name string, now time.Duration) bool {
	n := m.nodes[name]
	return n != nil && now < n.heard+m.cfg.DeadAfter
}

// Join says that a node has announced itself, again or for the first time.
func (m *Mapper) Join(now time.Duration, j Joining) error {
	now = m.time.at(now)
	if err := j.Table.check(); err != nil {
		return fault.New(fault.Invalid, "balance: join", err)
	}
	if j.Name == "" {
		return fault.Field("balance: join", "name", "a node needs a name")
	}
	if i := slices.IndexFunc(m.joined, func(o Joining) bool { return o.Name == j.Name }); i >= 0 {
		m.joined[i] = j
	} else {
		m.joined = append(m.joined, j)
	}
	n := m.node(j.Name)
	n.heard, n.position, n.trouble, n.moved = now, j.Position, "", now
	m.restarted(n, "")
	if j.Foreign {
		j.Table = Table{} // it will be emptied
	}
	m.hold(now, n, j.Table)
	m.step(now)
	return nil
}

// Report takes a node's report. Errors: fault.Stale when the node must
// register, or report its table, first.
func (m *Mapper) Report(now time.Duration, r NodeReport) error {
	now = m.time.at(now)
	n := m.nodes[r.Name]
	if n == nil || !n.told && r.Table == nil {
		return fault.Newf(fault.Stale, "balance: report", "node %s has not said what it holds: register again", r.Name)
	}
	if r.Table != nil {
		if err := r.Table.check(); err != nil {
			return fault.New(fault.Invalid, "balance: report", err)
		}
	}
	n.heard, n.bytes = now, r.Bytes
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
	if r.Table != nil {
		m.hold(now, n, *r.Table)
	}
	if r.Load != nil && n.id != 0 {
		m.loads.Report(now, n.id, m.model, r.Load)
	}
	m.step(now)
	return nil
}

// restarted forgets what an earlier life of the node was certified to have.
func (m *Mapper) restarted(n *nodeState, incarnation string) {
	n.incarnation = incarnation
	for _, v := range n.arriving {
		m.uncertify(v)
	}
}

// hold takes a node's table, in time proportional to it and to the moves to the
// node: what was to be copied may have arrived.
func (m *Mapper) hold(now time.Duration, n *nodeState, t Table) {
	if !n.told || !n.table.Equal(t) {
		n.moved, m.filling = now, true
	}
	n.table, n.told = t, true
	if len(n.arriving) == 0 {
		return
	}
	there := make(map[uint64]bool, len(n.arriving))
	for _, h := range t.Slices {
		if v := n.arriving[h.ID]; v != nil && v.matches(h) {
			there[h.ID] = true
			if !v.arrived {
				v.arrived, v.progress = true, now
				m.verify.enqueue(v.check)
			}
		}
	}
	for id, v := range n.arriving {
		if !there[id] && v.arrived {
			v.arrived = false
			m.uncertify(v)
		}
	}
}

// watch looks for what has been silent or still for too long.
func (m *Mapper) watch(now time.Duration) {
	m.masters(now)
	m.expire(now)
	if m.model == nil {
		return
	}
	for _, v := range m.moves.sorted() {
		if v.phase == Copying && !v.switching {
			if why := m.hopeless(now, v); why != "" {
				m.doom(v, why)
			}
		}
	}
	m.emptied(now)
}

// hopeless says why a copy will not come to its end; "": it may.
func (m *Mapper) hopeless(now time.Duration, v *move) string {
	target, _ := m.model.Node(v.b)
	n := m.node(target.Name)
	switch {
	case target.State != Active:
		return "node " + target.Name + " is " + target.State.String()
	case !m.alive(target.Name, now):
		return "node " + target.Name + " is lost: it was not heard of for " + m.cfg.DeadAfter.String()
	case n.trouble != "" && now >= n.troubled+m.cfg.DeadAfter:
		return "node " + target.Name + " is in trouble: " + n.trouble
	case now >= max(v.progress, n.moved)+m.cfg.Stall:
		return "it did not come on for " + m.cfg.Stall.String() + m.stalled(v)
	}
	return ""
}

// stalled says at what a copy stands still.
func (m *Mapper) stalled(v *move) string {
	switch {
	case !v.arrived:
		return ": node " + m.name(v.b) + " has not got all items"
	case v.check.failed != "":
		return ": no certificates were to be had: " + v.check.failed
	}
	return ": its items change so often that the copies cannot be compared"
}
