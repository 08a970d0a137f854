package balance

import (
	"maps"
	"math/bits"
	"slices"
	"time"
)

// counters counts events since the mapper started.
type counters struct {
	moves, cancelled, items, bytes uint64
	certificates                   Certificates
	refused                        uint64
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
	Even     Evenness
	// NoQueries is set when there was load before and queries have stopped; all
	// loads are zero then.
	NoQueries bool
	// Bound is the best that any placement can reach; LeastMove is what any plan
	// must move, in weight and as a share of all, to reach 1.1 times the mean or
	// the bound.
	Bound      Bound
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
	Shadows []Shadow
	// Iterations counts iterations; the last Idle of them moved nothing. While
	// nothing is moving either, RestFor is how long that has been so.
	Iterations, Idle uint64
	RestFor          time.Duration
	// IgnoredLoads counts load reports that were ignored, by reason.
	IgnoredLoads map[string]uint64
	Nodes        []NodeStatus
	Scrub        Scrub
	Masters      []MasterStatus
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
	Phase    MovePhase
	// For is how long the move has lasted.
	For time.Duration
	// Matched is how many of the Bins bins of the current part are verified.
	Matched int
	// Cause is why it moves, WaitsFor what is still missing.
	Cause, WaitsFor string
}

// NodeStatus is the state of a node.
type NodeStatus struct {
	Name  string
	State NodeState
	Alive bool
	// SilentFor is the time since its last message.
	SilentFor time.Duration
	View      uint64
	Position  Position
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
		Epoch: m.cfg.Epoch, Clock: m.clock, Strategy: m.cfg.Strategy.Name(), Paused: m.planning.paused, Adopted: m.planning.adopted,
		Waiting: m.Waiting(), Bound: m.planning.bound, LeastMove: m.planning.leastMove, LeastShare: m.planning.leastShare,
		Moved: Moved{m.counters.moves, m.counters.cancelled, m.counters.items, m.counters.bytes},
		Last:  m.planning.last, Shadows: slices.Clone(m.planning.shadows), Iterations: m.planning.iterations, Idle: m.planning.idle,
		Certificates: m.counters.certificates, Refused: m.counters.refused, IgnoredLoads: m.loads.Ignored(), Masters: m.masterStatus(now), Scrub: m.scrubStatus(now),
	}
	if m.model == nil {
		return s
	}
	s.View = m.model.View()
	if m.views.published != nil {
		s.Published = m.views.published.View()
	}
	in := Input{Model: m.model, Items: m.items, Limits: m.limits(m.model)}
	in.Loads, s.NoQueries = m.loadsNow(now)
	loads := NodeLoads(in)
	s.Measured, s.Even = in.measured(), evenness(m.model, loads, in.Limits)
	if s.Bound.MaxOverMean == 0 || s.NoQueries { // that of the last iteration may be based on loads
		s.Bound = LowerBound(in)
		s.LeastMove, s.LeastShare = LeastMove(in, tolerance)
	}
	for _, v := range m.moves.sorted() {
		s.InFlight = append(s.InFlight, m.flight(now, v))
	}
	if len(s.InFlight) == 0 && m.planning.idle > 0 {
		s.RestFor = now - max(m.planning.since, m.counters.rest)
	}
	s.WaitingFor = m.waitingFor(now)
	for _, n := range m.model.nodes {
		v := m.nodes[n.Name]
		s.Nodes = append(s.Nodes, NodeStatus{
			Name: n.Name, State: n.State, Alive: m.alive(n.Name, now), SilentFor: now - v.heard, View: v.table.View,
			Position: v.position, Trouble: v.trouble, Bytes: v.bytes, Load: loads[n.ID],
		})
	}
	return s
}

func (m *Mapper) masterStatus(now time.Duration) (out []MasterStatus) {
	for _, name := range slices.Sorted(maps.Keys(m.views.masters)) {
		v := m.views.masters[name]
		out = append(out, MasterStatus{Name: name, View: v.view, SilentFor: now - v.heard})
	}
	return out
}

// flight returns the state of a move.
func (m *Mapper) flight(now time.Duration, v *activeMove) Flight {
	f := Flight{
		Slice: v.id, From: m.name(v.a), To: m.name(v.b), Phase: v.phase, For: now - v.since,
		Matched: bits.OnesCount64(v.check.matched), Cause: v.cause.text,
	}
	switch {
	case v.phase == Switched && !v.published:
		f.WaitsFor = "all nodes to acknowledge the view in which it was switched"
	case v.phase == Switched && v.view > m.oldestAsked(now):
		f.WaitsFor = "all masters to get the view in which it was switched"
	case v.phase == Switched:
		f.WaitsFor = "the longest query with an older view to end"
	case v.doomed != "":
		f.WaitsFor = "cancellation: " + v.doomed
	case !v.arrived:
		f.WaitsFor = f.To + " to get all items"
	case !v.check.done() && v.check.failed != "":
		f.WaitsFor = "certificates: " + v.check.failed
	case !v.check.done():
		f.WaitsFor = "certificates of both copies"
	default:
		f.WaitsFor = "its switch to be recorded"
	}
	return f
}
