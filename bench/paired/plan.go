package paired

import (
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
)

// The names of the layouts with which others are compared, as Layout.Name returns them.
const (
	Floor    = "floor"
	Baseline = "RDB-Pr-Fl-Opt"
	Mapped   = "B"
	// Mixed finds less than the others, so it never counts as the best.
	Mixed = "served-mixed"
)

// Plan says what is measured, and how.
type Plan struct {
	Set     *layouts.Set
	Setups  []layouts.Setup
	Layouts []layouts.Layout
	// Peers are other systems. They are layouts too, and the result has ratios to each of them.
	Peers []layouts.Layout
	// Rounds is the number of turns of each layout on each setup, Time the total length of all
	// its turns on a setup.
	Rounds int
	Time   time.Duration
	// Threads is the number of threads that ask at the same time. With 1, Go's own work shares
	// their core.
	Threads int
	// CacheShare is the share of its data on disk that a layout may keep in memory; 0: all of
	// it.
	CacheShare float64
	Changes    Changes
	// Once: each store is also asked queries that it was never asked before, each of them once.
	// This needs one thread, a full cache and no changes.
	Once bool
	// Dir is an empty directory for the layouts' files.
	Dir string
	// Progress is called with what is being done and the share of it that is done, 0 to 1, or -1
	// if that is unknown.
	Progress func(what string, done float64)
}

// Changes says how keywords are changed while they are searched; by default, they are not.
// Whole ad groups change: the keywords of one get the words of those of another.
type Changes struct {
	// Share is the share of all operations that are changes of a keyword, 0 to 0.9. A search
	// that is ahead of the changes waits, which does not count as part of its time.
	Share float64
	// Rate is the number of keywords changed per second, whatever the searches do. Set Share or
	// Rate, not both.
	Rate float64
}

func (c Changes) any() bool { return c.Share > 0 || c.Rate > 0 }

// validate returns an error if the plan cannot be measured.
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
