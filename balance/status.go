package balance

import (
	"maps"
	"math/bits"
	"slices"
	"time"
)

// tally counts what was done since the mapper started.
type tally struct {
	moves, cancelled, items, bytes uint64
	certificates                   Certificates
	refused                        uint64
	rest                           time.Duration // when the last move ended
}

// Status is how balancing fares.
type Status struct {
	Epoch, Clock uint64
	// View is of the newest model, Published of the one that masters have; 0:
	// none.
	View, Published uint64
	Strategy        string
	Paused          bool
	// Adopted: the nodes' own tables made the first model.
	Adopted bool
	// Waiting says what the first plan waits for.
	Waiting string
	// Even is how the load lies now, or, when it is not Measured, the items'
	// weights.
	Measured bool
	Even     Evenness
	// NoQueries: there was load once, and queries have stopped; all loads are
	// zero.
	NoQueries bool
	// Bound cannot be beaten; LeastMove is what any plan must move, in weight and
	// as a share of all, to come to 1.1 times the mean or the bound.
	Bound      Bound
	LeastMove  uint64
	LeastShare float64
	// Moved is what was moved since the mapper started.
	Moved    Moved
	InFlight []Flight
	// Certificates says how copies compared, Refused how many proposals of
	// strategies in use the core refused.
	Certificates Certificates
	Refused      uint64
	// WaitingFor says who has not acknowledged a view yet.
	WaitingFor []string
	// Last is the last iteration, Shadows what the other strategies would do.
	Last    Iteration
	Shadows []Shadow
	// Iterations were made; the last Idle of them moved nothing. While nothing is
	// on its way either, RestFor is how long that has been so.
	Iterations, Idle uint64
	RestFor          time.Duration
	// IgnoredLoads counts load reports that were not taken, by reason.
	IgnoredLoads map[string]uint64
	Nodes        []NodeStatus
	Scrub        Scrub
	Masters      []MasterStatus
}

// Moved is what moves have done.
type Moved struct{ Moves, Cancelled, Items, Bytes uint64 }

// Certificates counts comparisons of a slice's copies: whole slices found equal,
// copies that differ, and those to be made again since something changed
// meanwhile or somebody did not answer.
type Certificates struct{ Equal, Different, Again uint64 }

// Flight is a slice on its way.
type Flight struct {
	Slice    uint64
	From, To string
	Phase    MovePhase
	// For is how long it has been on its way.
	For time.Duration
	// Matched is how many of the Bins bins of the part at hand are known to be
	// equal.
	Matched int
	// Cause says why it moves, WaitsFor what is still missing.
	Cause, WaitsFor string
}

// NodeStatus is what is known of a node.
type NodeStatus struct {
	Name  string
	State NodeState
	Alive bool
	// SilentFor is how long it has not been heard of.
	SilentFor time.Duration
	View      uint64
	Position  Position
	Trouble   string
	Bytes     uint64
	Load      float64
}

// MasterStatus is what is known of a master.
type MasterStatus struct {
	Name      string
	View      uint64
	SilentFor time.Duration
}

// Status returns how balancing fares.
func (m *Mapper) Status(now time.Duration) Status {
	now = m.time.at(now)
	s := Status{
		Epoch: m.cfg.Epoch, Clock: m.clock, Strategy: m.cfg.Strategy.Name(), Paused: m.planning.paused, Adopted: m.planning.adopted,
		Waiting: m.Waiting(), Bound: m.planning.bound, LeastMove: m.planning.leastMove, LeastShare: m.planning.leastShare,
		Moved: Moved{m.tally.moves, m.tally.cancelled, m.tally.items, m.tally.bytes},
		Last:  m.planning.last, Shadows: slices.Clone(m.planning.shadows), Iterations: m.planning.iterations, Idle: m.planning.idle,
		Certificates: m.tally.certificates, Refused: m.tally.refused, IgnoredLoads: m.loads.Ignored(), Masters: m.masterStatus(now), Scrub: m.scrubStatus(now),
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
	if s.Bound.MaxOverMean == 0 || s.NoQueries { // that of the last iteration may be of loads
		s.Bound = LowerBound(in)
		s.LeastMove, s.LeastShare = LeastMove(in, tolerance)
	}
	for _, v := range m.moves.sorted() {
		s.InFlight = append(s.InFlight, m.flight(now, v))
	}
	if len(s.InFlight) == 0 && m.planning.idle > 0 {
		s.RestFor = now - max(m.planning.since, m.tally.rest)
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

// flight says how far a move is.
func (m *Mapper) flight(now time.Duration, v *move) Flight {
	f := Flight{
		Slice: v.id, From: m.name(v.a), To: m.name(v.b), Phase: v.phase, For: now - v.since,
		Matched: bits.OnesCount64(v.check.matched), Cause: v.cause.text,
	}
	switch {
	case v.phase == Switched && !v.published:
		f.WaitsFor = "all nodes to acknowledge the view in which it was switched"
	case v.phase == Switched && v.view > m.passed(now):
		f.WaitsFor = "all masters to get the view in which it was switched"
	case v.phase == Switched:
		f.WaitsFor = "the longest query with an older view to end"
	case v.doomed != "":
		f.WaitsFor = "its cancel: " + v.doomed
	case !v.arrived:
		f.WaitsFor = f.To + " to get all items"
	case !v.check.done() && v.check.failed != "":
		f.WaitsFor = "certificates: " + v.check.failed
	case !v.check.done():
		f.WaitsFor = "certificates of both copies"
	default:
		f.WaitsFor = "its switch"
	}
	return f
}
