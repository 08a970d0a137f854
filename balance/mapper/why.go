package mapper

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/fault"
)

// Story explains why a slice is where it is.
type Story struct {
	Slice balance.Slice
	// Node serves it.
	Node   string
	Items  int
	Weight uint64
	// Load is a second, or, when nothing is Measured, the weight; OfNode is its
	// share of its node's.
	Measured bool
	Load     float64
	OfNode   float64
	// NodeOverMean is its node's load over the mean, MaxOverMean the highest of all.
	NodeOverMean, MaxOverMean float64
	// Bound is of the whole; Hot is the slice's item with the most load, 0 when
	// there is none, and HotOverMean its load over the mean of a node.
	Bound       load.Bound
	Hot         balance.Key
	HotOverMean float64
	// Helpless is set when no move can relieve the slice: its one hot item has more
	// load than the mean of a node.
	Helpless string
	// Away is set when its node is lost: until it is back, answers lack the slice.
	Away *Away
	// Move is nil unless the slice is moving.
	Move *Flight
	// Rests lists where it must not go for now, and until when.
	Rests []string
	// Decisions are the last ones about it, oldest first; General is the strategy's
	// last statement about the cluster.
	Decisions []Decision
	General   []string
	// Now is the mapper's time, for Decision.At.
	Now time.Duration
}

// Away is how long a node has been silent, and what will happen to its slices.
type Away struct {
	For  time.Duration
	Fate Fate
	// In is how long it takes until they leave, if Fate is Later.
	In time.Duration
}

// Fate is what will happen to the slices of a lost node.
type Fate int

// Later: they leave once it was lost for Config.EvacuateAfter. Now: they
// leave as the budget allows. Stay: they never leave, since EvacuateAfter is
// 0. Paused: they leave when balancing is resumed.
const (
	Later Fate = iota
	Now
	Stay
	Paused
)

// away returns the Away of a node, or nil unless it is lost.
func (c *cluster) away(now time.Duration, n balance.Node) *Away {
	if c.up(n.ID, now) {
		return nil
	}
	a := &Away{For: c.silence(n.ID, now)}
	switch after := c.cfg.EvacuateAfter; {
	case n.State == balance.Draining:
		a.Fate = Now
	case after <= 0:
		a.Fate = Stay
	case c.paused:
		a.Fate = Paused
	case a.For >= after:
		a.Fate = Now
	default:
		a.In = after - a.For
	}
	return a
}

// Why explains why a slice is where it is. Errors: fault.Unavailable before the
// first plan, fault.NotFound when there is no such slice, with what happened to
// it if that is recorded.
func (m *Mapper) Why(now time.Duration, slice uint64) (Story, error) {
	now = m.time.at(now)
	if m.model == nil {
		return Story{}, m.noPlan()
	}
	s, ok := m.slice(slice)
	if !ok {
		was := "slices are split and merged"
		if r := m.memory.slices[slice]; r != nil {
			was = "it " + r.list[len(r.list)-1].Text
		}
		return Story{}, fault.Newf(fault.NotFound, "balance: why", "there is no slice %d: %s", slice, was)
	}
	j := m.plan.judgeNow(now)
	sum := j.sums[j.at[slice]]
	out := Story{
		Slice: s, Node: m.name(s.Node), Items: sum.Items, Weight: sum.Weight, Measured: j.in.Measured(), Load: sum.Load,
		Bound: m.plan.bound, Rests: j.excluded(s), Now: now,
	}
	if out.Bound.MaxOverMean == 0 {
		out.Bound = load.LowerBound(j.in)
	}
	out.weigh(j, s)
	if n, ok := m.model.Node(s.Node); ok {
		out.Away = m.away(now, n)
	}
	if v := m.moves.all[slice]; v != nil {
		oldest, _ := m.views.oldestAsked(now)
		f := m.moves.flight(now, v, oldest)
		out.Move = &f
	}
	if r := m.memory.slices[slice]; r != nil {
		out.Decisions = slices.Clone(r.list)
	}
	for _, r := range m.plan.last.Proposal.Reasons {
		if r.Op < 0 && r.Slice == 0 {
			out.General = append(out.General, r.Text)
		}
	}
	return out, nil
}

// weigh compares a slice with its node, and with the mean.
func (out *Story) weigh(j *judge, s balance.Slice) {
	loads := load.OfNodes(j.in)
	even := load.EvennessOf(j.in.Model, loads, j.in.Limits)
	out.MaxOverMean = even.Ratio()
	share := j.in.Limits[s.Node].Strength()
	if l := loads[s.Node]; l > 0 {
		out.OfNode = out.Load / l
	}
	if even.Mean == 0 {
		return
	}
	out.NodeOverMean = loads[s.Node] / share / even.Mean
	most := 0.0
	for _, v := range load.OfItems(j.in, s, nil) {
		if (v.Hot || !out.Measured || out.Items == 1) && v.Load > most {
			most, out.Hot = v.Load, v.Key
		}
	}
	if out.HotOverMean = most / share / even.Mean; out.HotOverMean > 1 {
		out.Helpless = fmt.Sprintf(
			"not movable: item %d (key %x) alone is %.3g x the mean of a node, and an item cannot be divided",
			j.in.Order.Item(out.Hot), uint64(out.Hot), out.HotOverMean)
	}
}

// excluded lists where a slice must not go for now.
func (j *judge) excluded(s balance.Slice) (out []string) {
	for _, n := range j.in.Model.Nodes() {
		if n.ID == s.Node {
			continue
		}
		if why := j.rests(s, n.ID); why != "" {
			out = append(out, "to "+n.Name+": "+why)
		}
	}
	return out
}

// String describes the story in a few lines.
func (s Story) String() string {
	var b strings.Builder
	what := "weight"
	if s.Measured {
		what = "load"
	}
	fmt.Fprintf(&b, "slice %d is on %s: %d items of weight %d, %.3g of its %s; %s has %.3g x the mean, the most of any is %.3g\n",
		s.Slice.ID, s.Node, s.Items, s.Weight, s.OfNode, what, s.Node, s.NodeOverMean, s.MaxOverMean)
	if s.Away != nil {
		fmt.Fprintf(&b, "%s is lost: not heard from for %v, and answers lack the slice\n", s.Node, s.Away.For.Round(time.Millisecond))
	}
	if s.Helpless != "" {
		fmt.Fprintln(&b, s.Helpless)
	}
	if s.Move != nil {
		fmt.Fprintf(&b, "it moves from %s to %s (%s for %v, %d of %d parts certified): %s; it waits for %s\n",
			s.Move.From, s.Move.To, s.Move.Phase, s.Move.For.Round(time.Millisecond), s.Move.Matched, balance.Bins, s.Move.Cause, s.Move.WaitsFor)
	}
	for _, r := range s.Rests {
		fmt.Fprintln(&b, "it may not go", r)
	}
	for _, d := range s.Decisions {
		times := ""
		if d.Times > 1 {
			times = fmt.Sprintf(" (%d times)", d.Times)
		}
		fmt.Fprintf(&b, "%v ago: %s%s\n", (s.Now - d.At).Round(time.Millisecond), d.Text, times)
	}
	for _, t := range s.General {
		fmt.Fprintln(&b, t)
	}
	return b.String()
}
