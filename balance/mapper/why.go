package mapper

import (
	"fmt"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/plan"
	"adshard/balance/transfer"
	"adshard/fault"
)

// Story explains why a slice is on its shard.
type Story struct {
	Slice balance.Slice
	// Shard is the name of the shard that serves the slice.
	Shard string
	plan.Placement
	// Away is set if the shard is lost. Until it is back, answers lack the slice.
	Away *Away
	// Move is nil unless the slice is moving.
	Move *transfer.Flight
	// Decisions are the last decisions about the slice, beginning with the oldest.
	// General is the strategy's last statement about the cluster.
	Decisions []cluster.Decision
	General   []string
	// Now is the mapper's time, for Decision.At.
	Now time.Duration
}

// Away says how long a shard has been silent, and what will happen to its slices.
type Away struct {
	For  time.Duration
	Fate Fate
	// In is the time until they leave, if Fate is Later.
	In time.Duration
}

// Fate says what will happen to the slices of a lost shard.
type Fate int

// Later means that they leave when the shard has been lost for Config.EvacuateAfter.
// Now means that they leave as the budget allows. Stay means that they never leave,
// since EvacuateAfter is 0. Paused means that they leave when balancing is resumed.
const (
	Later Fate = iota
	Now
	Stay
	Paused
)

// away returns the Away of a shard, or nil if the shard is not lost.
func (c *Inspector) away(now time.Duration, sh balance.Shard) *Away {
	if c.Up(sh.ID, now) {
		return nil
	}
	a := &Away{For: c.Silence(sh.ID, now)}
	switch after := c.Config.EvacuateAfter; {
	case sh.State == balance.Draining:
		a.Fate = Now
	case after <= 0:
		a.Fate = Stay
	case c.Paused:
		a.Fate = Paused
	case a.For >= after:
		a.Fate = Now
	default:
		a.In = after - a.For
	}
	return a
}

// Why explains why a slice is on its shard. Errors: fault.Unavailable before the first
// plan, fault.NotFound if there is no such slice. The latter says what happened to the
// slice, if that is recorded.
func (m *Inspector) Why(now time.Duration, slice uint64) (Story, error) {
	now = m.Time.At(now)
	if m.Cluster.Model == nil {
		return Story{}, m.joining.noPlan()
	}
	s, ok := m.Slice(slice)
	if !ok {
		was := "slices are split and merged"
		if d := m.Memory.Of(slice); len(d) > 0 {
			was = "it " + d[len(d)-1].Text
		}
		return Story{}, fault.Newf(fault.NotFound, "balance: why", "there is no slice %d: %s", slice, was)
	}
	out := Story{Slice: s, Shard: m.Name(s.Shard), Placement: m.plan.Placement(now, s), Now: now}
	if sh, ok := m.Cluster.Model.Shard(s.Shard); ok {
		out.Away = m.away(now, sh)
	}
	oldest, _ := m.views.OldestAsked(now)
	out.Move = m.moves.FlightOf(now, slice, oldest)
	out.Decisions, out.General = m.Memory.Of(slice), m.plan.General()
	return out, nil
}

// String returns the story as text, in a few lines.
func (s Story) String() string {
	var b strings.Builder
	what := "weight"
	if s.Measured {
		what = "load"
	}
	fmt.Fprintf(&b, "slice %d is on %s: %d ad groups of weight %d, %.3g of its %s; %s has %.3g x the mean, the most of any is %.3g\n",
		s.Slice.ID, s.Shard, s.Items, s.Weight, s.OfShard, what, s.Shard, s.ShardOverMean, s.MaxOverMean)
	if s.Away != nil {
		fmt.Fprintf(&b, "%s is lost: not heard from for %v, and answers lack the slice\n", s.Shard, s.Away.For.Round(time.Millisecond))
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
