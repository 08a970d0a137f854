package mapper

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// counters counts events since the mapper started.
type counters struct {
	moves, cancelled, items, bytes uint64
	rest                           time.Duration // when the last move ended
}

// Status is the state of balancing.
type Status struct {
	Epoch, Clock uint64
	// View is of the newest model, Published of the one that masters have; 0:
	// none.
	View, Published uint64
	Strategy        string
	Paused          bool
	// Adopted is set if the first model was made from the nodes' own tables.
	Adopted bool
	// Waiting is what the first plan waits for; "" after it.
	Waiting string
	// Even is how evenly the load is spread now or, when it is not Measured, the
	// items' weights.
	Measured bool
	Even     balance.Evenness
	// NoQueries is set when there was load before and queries have stopped; all
	// loads are zero then.
	NoQueries bool
	// Few is Input.Few.
	Few string
	// Bound is the best that any placement can reach; LeastMove is what any plan
	// must move, in weight and as a share of all, to reach 1.1 times the mean or
	// the bound.
	Bound      load.Bound
	LeastMove  uint64
	LeastShare float64
	// Moved is what was moved since the mapper started.
	Moved    Moved
	InFlight []Flight
	// Certificates counts the results of comparisons, Refused the proposals of the
	// active strategy that the mapper refused.
	Certificates Certificates
	Refused      uint64
	// WaitingFor lists who has not acknowledged a view yet.
	WaitingFor []string
	// Last is the last iteration, Shadows what the other strategies would do.
	Last    Iteration
	Shadows []balance.Shadow
	// Iterations counts iterations; the last Idle of them moved nothing. While
	// nothing is moving either, RestFor is how long that has been so.
	Iterations, Idle uint64
	RestFor          time.Duration
	// IgnoredLoads counts load reports that were ignored, by reason.
	IgnoredLoads map[string]uint64
	Nodes        []NodeStatus
	// Slaves are by name; Replicas is how many are to hold each slice.
	Slaves   []SlaveStatus
	Replicas int
	// Revision is that of the sets of replicas.
	Revision uint64
	Scrub    Scrub
	Masters  []MasterStatus
}

// Moved counts moves and the data that they moved.
type Moved struct{ Moves, Cancelled, Items, Bytes uint64 }

// Certificates counts comparisons of a slice's copies: whole slices found equal,
// copies that differ, and comparisons to be repeated because something changed
// meanwhile or a node did not answer.
type Certificates struct{ Equal, Different, Again uint64 }

// Flight is the state of a slice's move.
type Flight struct {
	Slice    uint64
	From, To string
	Phase    balance.MovePhase
	// For is how long the move has lasted.
	For time.Duration
	// Matched is how many of the Bins bins of the current part are verified.
	Matched int
	// Cause is why it moves, WaitsFor what is still missing.
	Cause, WaitsFor string
}

// SlaveStatus is the state of a slave.
type SlaveStatus struct {
	balance.Slave
	// Shard is the name of its shard; "": it is a spare.
	Shard string
	Alive bool
	// SilentFor is the time since its last message.
	SilentFor time.Duration
	View      uint64
	Position  balance.Position
	Trouble   string
	Bytes     uint64
	// WaitsFor is what must happen before masters ask it, or, of a spare, before it
	// can get a shard; "": nothing.
	WaitsFor string
	// Copying is nil unless it copies a sibling's store.
	Copying *CopyState
}

// NodeStatus is the state of a node. View and Position are those of the slave that is
// farthest behind, of those that masters ask and that are alive; Bytes of all.
type NodeStatus struct {
	Name  string
	State balance.NodeState
	Alive bool
	// SilentFor is the time since its last message.
	SilentFor time.Duration
	View      uint64
	Position  balance.Position
	Trouble   string
	Bytes     uint64
	Load      float64
}

// MasterStatus is the state of a master.
type MasterStatus struct {
	Name      string
	View      uint64
	SilentFor time.Duration
}

// Status returns the state of balancing.
func (m *Mapper) Status(now time.Duration) Status {
	now = m.time.at(now)
	s := Status{
		Epoch: m.cfg.Epoch, Clock: m.clock, Strategy: m.plan.strategy.Name(), Paused: m.paused, Adopted: m.plan.adopted,
		Waiting: m.Waiting(), Bound: m.plan.bound, LeastMove: m.plan.leastMove, LeastShare: m.plan.leastShare,
		Moved: Moved{m.moves.counters.moves, m.moves.counters.cancelled, m.moves.counters.items, m.moves.counters.bytes},
		Last:  m.plan.last, Shadows: slices.Clone(m.plan.shadows), Iterations: m.plan.iterations, Idle: m.plan.idle,
		Certificates: m.verify.certificates, Refused: m.plan.refused, IgnoredLoads: m.loads.Ignored(), Masters: m.masterStatus(now), Scrub: m.verify.scrubStatus(now),
	}
	if m.model == nil {
		return s
	}
	s.View = m.model.View()
	if m.views.published != nil {
		s.Published = m.views.published.View()
	}
	in := balance.Input{Model: m.model, Items: m.items, Limits: m.limits(m.model)}
	m.plan.addLoads(&in, now)
	s.NoQueries, s.Few = in.NoQueries, m.loads.Few(m.asked(now))
	loads := load.OfNodes(in)
	s.Measured, s.Even = in.Measured(), load.EvennessOf(m.model, loads, in.Limits)
	if s.Bound.MaxOverMean == 0 || s.NoQueries { // that of the last iteration may be based on loads
		s.Bound = load.LowerBound(in)
		s.LeastMove, s.LeastShare = load.LeastMove(in, tolerance)
	}
	oldest, _ := m.views.oldestAsked(now)
	for _, v := range m.moves.sorted() {
		s.InFlight = append(s.InFlight, m.moves.flight(now, v, oldest))
	}
	if len(s.InFlight) == 0 && m.plan.idle > 0 {
		s.RestFor = now - max(m.plan.since, m.moves.counters.rest)
	}
	s.WaitingFor = m.views.waitingFor(now, len(m.moves.leaving) > 0)
	for _, n := range m.model.Nodes() {
		s.Nodes = append(s.Nodes, m.nodeStatus(now, n, loads[n.ID]))
	}
	s.Slaves, s.Replicas, s.Revision = m.slaveStatus(now), m.members.replicas, m.model.Revision()
	return s
}

// arrivingOn names the slave that a move waits for.
func arrivingOn(a *arrival, target string) string {
	if a == nil || a.slave == target {
		return target
	}
	return target + " (" + a.slave + ")"
}

// nodeStatus returns the state of a node: of its slaves that masters ask together.
func (m *Mapper) nodeStatus(now time.Duration, n balance.Node, load float64) NodeStatus {
	out := NodeStatus{Name: n.Name, State: n.State, Alive: m.up(n.ID, now), SilentFor: m.silence(n.ID, now), Load: load}
	out.Trouble, _ = m.ailing(n.ID, now)
	first := true
	for _, s := range m.model.Set(n.ID) {
		v := m.nodes[s.Name]
		out.Bytes += v.bytes
		if m.alive(s.Name, now) || !out.Alive {
			if first || v.table.View < out.View {
				out.View = v.table.View
			}
			if first || v.position.Compare(out.Position) < 0 {
				out.Position = v.position
			}
			if first && !out.Alive {
				out.Trouble = v.trouble
			}
			first = false
		}
	}
	return out
}

// WaitsFor returns what must happen before masters ask a slave, or, of a spare that
// left a shard, before it can get another, by the slave's name.
func (m *Mapper) WaitsFor(now time.Duration) map[string]string {
	return m.members.waitsFor(m.time.at(now))
}

func (m *membership) waitsFor(now time.Duration) map[string]string {
	_, oldest := m.views.oldestAsked(now)
	out := make(map[string]string)
	for _, s := range m.model.Slaves() {
		entered, in := m.entered[s.Name]
		switch {
		case s.Left != 0:
			out[s.Name] = "all masters to learn that it left its shard"
		case s.Node == 0:
		case s.In && (!in || 0 < oldest && oldest < entered): // 0: unknown
			out[s.Name] = "all masters to learn that it joined its set"
		case !s.In:
			out[s.Name] = "its set to change"
			if w := m.entrances[s.Name]; w != nil && w.waits != "" {
				out[s.Name] = w.waits
			}
		}
	}
	return out
}

// slaveStatus returns the state of each slave.
func (m *Mapper) slaveStatus(now time.Duration) (out []SlaveStatus) {
	waits := m.members.waitsFor(now)
	for _, s := range m.model.Slaves() {
		v := m.nodes[s.Name]
		out = append(out, SlaveStatus{
			Slave: s, Shard: m.name(s.Node), Alive: m.alive(s.Name, now), SilentFor: now - v.heard, View: v.table.View,
			Position: v.position, Trouble: v.trouble, Bytes: v.bytes, WaitsFor: waits[s.Name],
			Copying: v.copying,
		})
	}
	return out
}

func (m *Mapper) masterStatus(now time.Duration) (out []MasterStatus) {
	for _, name := range slices.Sorted(maps.Keys(m.views.masters)) {
		v := m.views.masters[name]
		out = append(out, MasterStatus{Name: name, View: v.view, SilentFor: now - v.heard})
	}
	return out
}

// flight returns the state of a move.
func (m *moves) flight(now time.Duration, v *activeMove, oldest uint64) Flight {
	f := Flight{
		Slice: v.id, From: m.name(v.a), To: m.name(v.b), Phase: v.phase, For: now - v.since, Cause: v.cause.text,
	}
	a := m.least(now, v)
	if a != nil {
		f.Matched = bits.OnesCount64(a.check.matched)
	}
	switch {
	case v.phase == balance.Switched && !v.published:
		f.WaitsFor = "all nodes to acknowledge the view in which it was switched"
	case v.phase == balance.Switched && v.view > oldest:
		f.WaitsFor = "all masters to get the view in which it was switched"
	case v.phase == balance.Switched:
		f.WaitsFor = "the longest query with an older view to end"
	case v.doomed != "":
		f.WaitsFor = "cancellation: " + v.doomed
	case a == nil || !a.arrived:
		f.WaitsFor = arrivingOn(a, f.To) + " to get all items"
	case !a.check.done() && a.check.failed != "":
		f.WaitsFor = "certificates: " + a.check.failed
	case !a.check.done():
		f.WaitsFor = "certificates of both copies"
	default:
		f.WaitsFor = "its switch to be recorded"
	}
	return f
}
