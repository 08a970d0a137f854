package counters

import (
	"math"

	"adshard/fault"
)

// Mode says how many parts a counter has.
type Mode struct {
	dynamic bool
	shards  int   // the number that a counter begins with
	rule    *Rule // nil unless the counter is adaptive
}

// Static returns the mode in which a counter has n shards until it is resized.
func Static(n int) Mode { return Mode{shards: n} }

// Dynamic returns the mode in which each update adds a part of its own, until Compact folds it.
func Dynamic() Mode { return Mode{dynamic: true, shards: 1} }

// Adaptive returns the mode in which Maintain changes the number of shards by a rule.
func Adaptive(r Rule) Mode { return Mode{shards: r.Least, rule: &r} }

// MaxShards is the greatest number of shards of a counter.
const MaxShards = 1024

func (m Mode) validate() error {
	if m.rule != nil {
		return m.rule.validate()
	}
	if m.shards < 1 || m.shards > MaxShards {
		return fault.Newf(fault.Invalid, "counters: new", "%d shards: 1 to %d", m.shards, MaxShards)
	}
	return nil
}

// Rule determines the number of shards of an adaptive counter. The papers decide by puts and
// conflicts, but give no constants. Those of DefaultRule were measured here: see
// docs/experiments/counters.md.
//
// A window is the time between two calls of Maintain. Puts are the writes that updates tried.
// Conflicts are the puts that failed because another update had changed the same shard.
type Rule struct {
	// Least and Most bound the number of shards; a counter begins with Least.
	Least, Most int
	// Grow is the fraction of conflicting puts above which there are too few shards. The new number
	// is computed so that the fraction falls to about Aim: the old number times a power of 2, at
	// most Step. Aim < Grow.
	Grow, Aim float64
	Step      int
	// GrowAfter is the number of consecutive windows with too many conflicts after which the number
	// grows. A window with fewer than Puts puts is joined with the next.
	GrowAfter int
	Puts      uint64
	// Shrink is the fraction of conflicting puts below which the number of shards is halved. The
	// fraction is taken over at least ShrinkAfter windows, and over enough of them for 1/Shrink
	// puts, unless ShrinkAfter windows in a row had no put. Twice Shrink must be below Grow, since
	// halving doubles the conflicts.
	Shrink      float64
	ShrinkAfter int
}

// DefaultRule returns a rule for windows of one second.
func DefaultRule() Rule {
	return Rule{Least: 4, Most: 256, Grow: 0.05, Aim: 0.03, Step: 16, GrowAfter: 1, Puts: 20, Shrink: 0.01, ShrinkAfter: 10}
}

func (r *Rule) validate() error {
	switch {
	case r.Least < 1 || r.Most < r.Least || r.Most > MaxShards:
		return fault.Newf(fault.Invalid, "counters: new", "Rule: 1 <= Least (%d) <= Most (%d) <= %d", r.Least, r.Most, MaxShards)
	case !(0 < r.Aim && r.Aim < r.Grow && r.Grow < 1):
		return fault.Newf(fault.Invalid, "counters: new", "Rule: 0 < Aim (%v) < Grow (%v) < 1", r.Aim, r.Grow)
	case !(0 <= r.Shrink && 2*r.Shrink < r.Grow):
		return fault.Newf(fault.Invalid, "counters: new", "Rule: 0 <= twice Shrink (%v) < Grow (%v)", r.Shrink, r.Grow)
	case r.Step < 2 || r.GrowAfter < 1 || r.ShrinkAfter < 1 || r.Puts < 1:
		return fault.Newf(fault.Invalid, "counters: new", "Rule: Step from 2, GrowAfter, ShrinkAfter and Puts from 1")
	}
	return nil
}

// load is the number of puts and conflicts in some period.
type load struct{ puts, conflicts uint64 }

func (l *load) add(o load) { l.puts, l.conflicts = l.puts+o.puts, l.conflicts+o.conflicts }

func (l load) share() float64 { return float64(l.conflicts) / float64(max(l.puts, 1)) }

// pace is a rule's state for one counter.
type pace struct {
	judged load // since the last test for growth
	hot    int  // consecutive tests that found too few shards
	past   load // load since the last test for shrinking
	quiet  int  // windows since the last test for shrinking
	idle   int  // consecutive windows without a put
}

// next returns the number of shards after a window, and resets the state if that number has changed.
func (p *pace) next(r *Rule, shards int, window load) int {
	p.judged.add(window)
	p.past.add(window)
	p.quiet++
	p.idle++
	if window.puts > 0 {
		p.idle = 0
	}
	if p.judged.puts >= r.Puts {
		if share := p.judged.share(); share <= r.Grow {
			p.hot = 0
		} else if p.hot++; p.hot >= r.GrowAfter && shards < r.Most {
			*p = pace{}
			return min(r.Most, shards*factor(share, r))
		}
		p.judged = load{}
	}
	// After ShrinkAfter windows without puts, the puts before them are dropped even if they are too
	// few to judge by. Otherwise they would keep the number of shards as it is.
	idle := p.idle >= r.ShrinkAfter
	if idle || p.quiet >= r.ShrinkAfter && float64(p.past.puts)*r.Shrink >= 1 {
		less := (idle || p.past.share() < r.Shrink) && shards > r.Least
		p.past, p.quiet, p.idle = load{}, 0, 0
		if less {
			*p = pace{}
			return max(shards/2, r.Least)
		}
	}
	return shards
}

// factor returns the factor by which the number of shards must grow. Suppose that updates of a shard
// arrive at random. Then the chance that no other update arrives during a put is exp(-load), so the
// load of a shard is -ln(1 - conflicts).
func factor(share float64, r *Rule) int {
	wanted := math.Log1p(-min(share, 0.999)) / math.Log1p(-r.Aim)
	f := 2
	for float64(f) < wanted && 2*f <= r.Step {
		f *= 2
	}
	return f
}
