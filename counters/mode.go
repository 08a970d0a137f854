package counters

import (
	"math"

	"adshard/fault"
)

// Mode says how many parts a counter has.
type Mode struct {
	dynamic bool
	shards  int   // that a counter begins with
	rule    *Rule // of adaptive counters
}

// Static is the mode of n shards, until Resize.
func Static(n int) Mode { return Mode{shards: n} }

// Dynamic is the mode in which each update adds a part, until Compact.
func Dynamic() Mode { return Mode{dynamic: true, shards: 1} }

// Adaptive is the mode in which Maintain changes the number of shards by a rule.
func Adaptive(r Rule) Mode { return Mode{shards: r.Least, rule: &r} }

// MaxShards is how many shards a counter may have.
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
// conflicts, and give no constants. DefaultRule has ours; docs/experiments/counters.md says how they
// were measured.
//
// A window is the time between two calls of Maintain. Puts are the writes that updates tried;
// conflicts are those that another update of the same shard preceded.
type Rule struct {
	// Least and Most bound the number of shards; a counter begins with the least.
	Least, Most int
	// Grow is the fraction of conflicting puts above which there are too few shards. Aim is the
	// fraction that the new number is computed for: a power of 2, at most Step times the old one.
	// Aim < Grow.
	Grow, Aim float64
	Step      int
	// GrowAfter is the number of consecutive windows that must show it. A window with fewer than
	// Puts puts is joined with the next.
	GrowAfter int
	Puts      uint64
	// Shrink is the fraction of conflicting puts below which the number of shards is halved. It is
	// taken over ShrinkAfter windows or more, as many as needed for 1/Shrink puts, or without any
	// put. Twice Shrink must be below Grow: halving doubles conflicts.
	Shrink      float64
	ShrinkAfter int
}

// DefaultRule is meant for a window of a second.
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

// load is the puts and conflicts of some time.
type load struct{ puts, conflicts uint64 }

func (l *load) add(o load) { l.puts, l.conflicts = l.puts+o.puts, l.conflicts+o.conflicts }

func (l load) share() float64 { return float64(l.conflicts) / float64(max(l.puts, 1)) }

// pace is a rule's state for one counter.
type pace struct {
	judged load // since the last check for growth
	hot    int  // consecutive checks that found too few shards
	past   load // of the windows that are counted for shrinking
	quiet  int  // how many these are
	idle   int  // windows in a row without a put
}

// next returns the number of shards after a window, and forgets all if it is another one.
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
	// Without puts in a window, earlier puts too few to judge by are dropped: they would keep the
	// shards.
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

// factor is the factor by which the number of shards must grow. If updates of a shard arrive at
// random, no other one arrives within the time of a put with a chance of e to the minus load, so
// the load of a shard is -ln(1 - conflicts).
func factor(share float64, r *Rule) int {
	wanted := math.Log1p(-min(share, 0.999)) / math.Log1p(-r.Aim)
	f := 2
	for float64(f) < wanted && 2*f <= r.Step {
		f *= 2
	}
	return f
}
