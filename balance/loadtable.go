package balance

import (
	"fmt"
	"math"
	"time"
)

// The defaults of a LoadTable.
const (
	// DefaultHalfLife is how long it takes until half of an average is new.
	DefaultHalfLife = 10 * time.Second
	// MaxHot and MaxTopics are the most items, and topics of each node, that
	// are remembered.
	MaxHot    = 65_536
	MaxTopics = 512
	// minQueries is how many queries the averages must stand for: of so many,
	// what chance adds to a slice's part is about a tenth of all.
	minQueries = 100
	// idleQueries is the least number of queries in a half-life that leaves loads
	// a meaning: below it an average is the remains of one that ended.
	idleQueries = 1
	// tellTime is how long, of a node's reported time, it may take until the
	// node counts by a slice's new generation. Until then that it reports
	// nothing of the slice means nothing.
	tellTime = 5 * time.Second
)

// LoadTable averages what nodes report that queries cost them. An average is
// decayed by half-life over the time that the reports cover, so that a node
// that falls silent keeps the load that it had; it takes no notice of clocks.
// It counts where a slice is served and never what a node merely holds.
// Reports cost time in proportion to their size, memory is in proportion to
// the slices, MaxHot and MaxTopics.
type LoadTable struct {
	weights  LoadWeights
	halfLife float64 // seconds

	m       *Model
	items   Items
	order   []*sliceLoad // as m's slices
	byID    map[uint64]*sliceLoad
	nodes   map[NodeID]*nodeLoad
	hot     hitters[Key]
	ignored map[string]uint64
	// measured: some load was counted once. What has decayed to nothing is
	// still known: it is not the items' weights again.
	measured bool
	asked    bool   // some query was counted once
	last     *loads // the newest snapshot; nil when something came since
}

// nodeLoad is what is known of a node's reports.
type nodeLoad struct {
	incarnation string
	past        []string // earlier incarnations, the newest last
	number      uint64
	exposed     float64 // seconds that its reports covered
	queries     average
	topics      hitters[uint64]
}

// sliceLoad is a slice with its average.
type sliceLoad struct {
	Slice
	average
	// While waits, the node need not know the slice's generation yet, and
	// nothing counts as nought before its exposure is quiet.
	waits bool
	quiet float64
}

// average is a decayed average of load a second.
type average struct {
	rate float64
	seen float64 // seconds that it stands for
	at   float64 // the node's exposure up to which it was counted
}

// step counts dt seconds of load c a second. While little was seen the average
// is a plain mean, so that it need not rise from nought.
func (a *average) step(dt, c, halfLife float64) {
	if dt <= 0 {
		return
	}
	alpha := max(1-math.Exp2(-dt/halfLife), dt/(a.seen+dt))
	a.rate += alpha * (c - a.rate)
	a.seen += dt
}

// NewLoadTable makes an empty table. No weights are DefaultLoadWeights, no
// half-life is DefaultHalfLife.
func NewLoadTable(weights LoadWeights, halfLife time.Duration) *LoadTable {
	if weights == (LoadWeights{}) {
		weights = DefaultLoadWeights
	}
	if halfLife <= 0 {
		halfLife = DefaultHalfLife
	}
	return &LoadTable{
		weights: weights, halfLife: halfLife.Seconds(), byID: map[uint64]*sliceLoad{},
		nodes: map[NodeID]*nodeLoad{}, hot: newHitters[Key](MaxHot), ignored: map[string]uint64{},
	}
}

// Report takes what a node of model m counted. It returns "", or why the
// report is ignored. Entries of slices that the model knows otherwise (unknown,
// of another generation, served elsewhere) are left out and counted in Ignored;
// the rest of their report counts.
func (t *LoadTable) Report(_ time.Duration, node NodeID, m *Model, r *LoadReport) (ignored string) {
	if m != t.m {
		t.Model(m, t.items)
	}
	if _, known := m.Node(node); !known {
		return t.ignore("unknown node")
	}
	if absurd(r) {
		return t.ignore("absurd")
	}
	n := t.node(node)
	if why := n.follows(r); why != "" {
		return t.ignore(why)
	}
	seconds := r.Interval.Seconds()
	n.exposed += seconds
	t.asked = t.asked || r.Queries > 0
	n.queries.step(seconds, float64(r.Queries)/seconds, t.halfLife)
	t.last = nil
	for _, c := range r.Slices {
		t.slice(n, node, r, c)
	}
	for _, c := range r.Items {
		t.item(n, node, r, c)
	}
	for _, c := range r.Topics {
		n.topics.add(c.Term, node, n.exposed, r.Interval.Seconds(), t.rate(c.Cost, r), t.halfLife)
	}
	n.topics.trim()
	t.hot.trim()
	return ""
}

// slice counts one slice's cost.
func (t *LoadTable) slice(n *nodeLoad, node NodeID, r *LoadReport, c SliceCost) {
	s := t.byID[c.Slice]
	switch {
	case s == nil:
		t.ignore("unknown slice")
	case s.Move.Phase == Switched && (s.Node == node || s.Move.Other == node):
		// Masters go over from one node to the other: what was expected before
		// stays until all have.
	case s.Node != node:
		t.ignore("slice served elsewhere")
	case s.Generation != c.Generation:
		t.ignore("another generation")
		s.at = n.exposed // not known is not nought
	case s.at == n.exposed:
		t.ignore("doubled")
	default:
		t.settle(s, n.exposed-r.Interval.Seconds())
		s.waits, t.measured = false, t.measured || t.rate(c.Cost, r) > 0
		s.step(r.Interval.Seconds(), t.rate(c.Cost, r), t.halfLife)
		s.at = n.exposed
	}
}

// item counts one item's cost, if the node serves it.
func (t *LoadTable) item(n *nodeLoad, node NodeID, r *LoadReport, c ItemCost) {
	s := t.m.At(c.Key)
	if s.Node != node || s.Move.Phase == Switched {
		if s.Move.Other != node && s.Node != node {
			t.ignore("item served elsewhere")
		}
		return
	}
	t.hot.add(c.Key, node, n.exposed, r.Interval.Seconds(), t.rate(c.Cost, r), t.halfLife)
}

// settle counts that nothing was reported of the slice up to the node's
// exposure.
func (t *LoadTable) settle(s *sliceLoad, exposed float64) {
	from := s.at
	if s.waits {
		from = max(from, s.quiet)
		s.waits = exposed < s.quiet
	}
	if s.Move.Phase != Switched {
		s.step(exposed-from, 0, t.halfLife)
	}
	s.at = max(s.at, exposed)
}

// rate returns the load a second of a cost of the report.
func (t *LoadTable) rate(c Cost, r *LoadReport) float64 {
	return t.weights.Of(c) / r.Interval.Seconds()
}

func (t *LoadTable) node(id NodeID) *nodeLoad {
	n := t.nodes[id]
	if n == nil {
		n = &nodeLoad{topics: newHitters[uint64](MaxTopics)}
		t.nodes[id] = n
	}
	return n
}

// forget drops what a node that is no more reported.
func (t *LoadTable) forget(id NodeID) {
	delete(t.nodes, id)
	t.last = nil
}

func (t *LoadTable) ignore(why string) string {
	t.ignored[why]++
	return why
}

// few says that too few queries are behind the averages to go by them: fewer
// than minQueries in a half-life, the mean of these nodes, since each sees every
// query. "": there are enough, or no load was ever measured.
func (t *LoadTable) few(nodes []NodeID) string {
	if !t.measured {
		return ""
	}
	var queries float64
	for _, id := range nodes {
		if n := t.nodes[id]; n != nil {
			queries += n.queries.rate * min(n.queries.seen, t.halfLife) / float64(len(nodes))
		}
	}
	if queries >= minQueries {
		return ""
	}
	return fmt.Sprintf("too few queries to go by (%.0f in the last %.3g seconds)", queries, t.halfLife)
}

// idle reports whether queries were counted once and have stopped on all of these
// nodes. What is left of averages says nothing then: each node's decay at its own
// pace, and of two that are nearly nothing one is the larger.
func (t *LoadTable) idle(nodes []NodeID) bool {
	if !t.measured || !t.asked {
		return false
	}
	for _, id := range nodes {
		if n := t.nodes[id]; n != nil && n.queries.rate*min(n.queries.seen, t.halfLife) >= idleQueries {
			return false
		}
	}
	return len(nodes) > 0
}

// noLoad is the Loads of an idle cluster: measured, and nothing anywhere.
type noLoad struct{}

// Slice implements Loads.
func (noLoad) Slice(uint64) float64 { return 0 }

// Hot implements Loads.
func (noLoad) Hot(Key, Key, func(Key, float64) bool) {}

// Measured implements Loads.
func (noLoad) Measured() bool { return true }

// Ignored returns how many reports, and entries of reports, were ignored, by
// reason.
func (t *LoadTable) Ignored() map[string]uint64 {
	out := make(map[string]uint64, len(t.ignored))
	for why, n := range t.ignored {
		out[why] = n
	}
	return out
}

// Topics returns a node's topics (anchor terms) with the most load a second,
// the greatest first, at most n.
func (t *LoadTable) Topics(node NodeID, n int) []TopicLoad {
	l := t.nodes[node]
	if l == nil {
		return nil
	}
	var out []TopicLoad
	for _, h := range l.topics.top(n, func(h hit) float64 { return h.now(l.exposed, t.halfLife) }) {
		out = append(out, TopicLoad{Term: h.key, Load: h.load})
	}
	return out
}
