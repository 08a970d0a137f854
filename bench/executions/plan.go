package executions

import (
	"context"
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
)

// Plan says what is measured.
type Plan struct {
	// Keywords is the number of keywords of one slave.
	Keywords int64
	Setups   []Setup
	Layouts  []layouts.Layout
	// Times is how often a setup's query is executed. A layout that takes longer than Limit
	// on a setup gets fewer executions; a Limit of 0 means no limit.
	Times int
	Limit time.Duration
	Seed  uint64
	// Runs is how often each setup is measured on a layout that was built once: all setups,
	// then all again, each time with a new searcher.
	Runs int
	// Log holds the queries to choose from. Set makes or reads a set of keywords.
	Log []*layouts.Query
	Set func(ctx context.Context, keywords int64) (*layouts.Set, error)
	// Dir is an empty directory for the layouts' files.
	Dir string
	// Progress is called with what is being done and the share of it that is done, 0 to 1,
	// or -1 if that is unknown.
	Progress func(what string, done float64)
}

// validate returns an error if the plan cannot be measured.
func (p *Plan) validate() error {
	say := func(format string, args ...any) error {
		return fault.Newf(fault.Invalid, "executions: plan", format, args...)
	}
	switch {
	case p.Keywords < 10:
		return say("%d keywords of one slave: 10 or more", p.Keywords)
	case len(p.Setups) == 0 || len(p.Layouts) == 0:
		return say("there are %d setups and %d layouts: name one of both or more", len(p.Setups), len(p.Layouts))
	case p.Times < 2:
		return say("%d executions: 2 or more, of which the latter half counts", p.Times)
	case p.Runs < 1:
		return say("%d runs: 1 or more", p.Runs)
	case p.Limit < 0:
		return say("a limit of %v: 0 for none, or more", p.Limit)
	case len(p.Log) == 0:
		return say("the log has no query")
	}
	names := make(map[string]bool)
	for _, l := range p.Layouts {
		if names[l.Name()] {
			return say("layout %s is there twice: name each once", l.Name())
		}
		names[l.Name()] = true
	}
	return nil
}

func (p *Plan) progress(what string, done float64) {
	if p.Progress != nil {
		p.Progress(what, done)
	}
}
