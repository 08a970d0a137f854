package paired

import (
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
)

// The names of the layouts that others are compared with, as Layout.Name gives
// them.
const (
	Floor    = "floor"
	Baseline = "RDB-Pr-Fl-Opt"
	Mapped   = "B"
	// Mixed finds less than the others, so that it is never the best of them.
	Mixed = "served-mixed"
)

// Plan says what is measured, and how.
type Plan struct {
	Set     *layouts.Set
	Setups  []layouts.Setup
	Layouts []layouts.Layout
	// Peers are other systems; they are layouts too, and ratios to each of them
	// are given.
	Peers []layouts.Layout
	// Rounds is how often each layout has its turn on each setup, Time how long
	// all its turns on a setup take together.
	Rounds int
	Time   time.Duration
	// Threads ask at the same time; 1: Go itself gets one core as well.
	Threads int
	// CacheShare is which share of what it has on disk a layout may keep in
	// memory; 0: all of it.
	CacheShare float64
	Changes    Changes
	// Once: each store is also asked queries that it was never asked before, each
	// of them once. Only with one thread, a whole cache and no changes.
	Once bool
	// Dir is an empty directory for what layouts have on disk.
	Dir string
	// Progress is called with what is being done and the share of it that is, 0 to 1, or -1.
	Progress func(what string, done float64)
}

// Changes are made to the keywords while they are searched; none by default.
// Whole ad groups change: the keywords of one get the words of those of another.
type Changes struct {
	// Share of all operations are changes of a keyword, 0 to 0.9; a search that is ahead of them
	// waits, which does not count in its time.
	Share float64
	// Rate is keywords a second, whatever the searches do. Share or Rate, not both.
	Rate float64
}

func (c Changes) any() bool { return c.Share > 0 || c.Rate > 0 }

// validate refuses what cannot be measured.
func (p *Plan) validate() error {
	say := func(format string, args ...any) error {
		return fault.Newf(fault.Invalid, "paired: plan", format, args...)
	}
	names := map[string]bool{}
	for _, l := range p.all() {
		if names[l.Name()] {
			return say("layout %s is there twice: name each once", l.Name())
		}
		names[l.Name()] = true
	}
	switch {
	case p.Set == nil || p.Set.Len() == 0:
		return say("there are no keywords: give a set of one or more")
	case len(names) == 0:
		return say("there are no layouts: name at least one")
	case len(p.Setups) == 0:
		return say("there are no setups: name at least one")
	case p.Rounds < 1 || p.Time <= 0 || p.Threads < 1:
		return say("%d rounds, %v, %d threads: each is to be more than 0", p.Rounds, p.Time, p.Threads)
	case p.CacheShare < 0 || p.CacheShare >= 1:
		return say("a cache of %g of the data: 0 (all) or a share below 1", p.CacheShare)
	case p.Changes.Share < 0 || p.Changes.Share > 0.9 || p.Changes.Rate < 0:
		return say("changes: a share from 0 to 0.9, or a rate of 0 or more")
	case p.Changes.Share > 0 && p.Changes.Rate > 0:
		return say("changes by share and by rate at once: choose one")
	}
	for _, s := range p.Setups {
		if len(s.Queries) == 0 {
			return say("setup %s has no queries", s.Name)
		}
	}
	return nil
}

func (p *Plan) all() []layouts.Layout {
	return append(append([]layouts.Layout(nil), p.Layouts...), p.Peers...)
}

func (p *Plan) progress(what string, done float64) {
	if p.Progress != nil {
		p.Progress(what, done)
	}
}
