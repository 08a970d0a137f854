package paired

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"adshard/bench/layouts"
)

// Run measures by the plan. Layouts that lack something on this machine
// (fault.Unavailable) are left out, and the result says so; any other error, and
// a layout that finds something else than it should, ends the run.
func Run(ctx context.Context, p *Plan) (_ *Result, err error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	r := &run{plan: p, result: &Result{}, clock: ClockCost()}
	defer func() { err = errors.Join(err, r.close()) }()
	// One thread: what Go does besides (collecting garbage) is part of the work.
	threads := p.Threads
	if p.Changes.any() || p.CacheShare > 0 {
		threads++ // for what goes on meanwhile
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	r.addOnce()
	runtime.GOMAXPROCS(threads)
	for i := range p.Setups {
		if err := r.measure(ctx, i); err != nil {
			return nil, err
		}
	}
	return r.result, nil
}

// run is a run under way.
type run struct {
	plan  *Plan
	clock time.Duration // what a look at it costs
	// right is what each query of each setup finds.
	right    [][]layouts.Found
	entrants []*entrant
	best     best
	result   *Result
}

// entrant is a layout that takes part.
type entrant struct {
	layouts.Layout
	peer    bool
	store   layouts.Store
	dir     string
	seconds float64 // of building
	size    layouts.Size
	// once has the results of queries that were asked for the first time, by setup; nil where
	// there were too few.
	once []*measured
	// like says whose words each keyword has; nil: its own.
	like []uint32
}

// measure goes through the rounds of a setup, and adds its rows.
func (r *run) measure(ctx context.Context, at int) error {
	p := r.plan
	setup := &p.Setups[at]
	conditions := []Changes{{}}
	if p.Changes.any() {
		conditions = append(conditions, p.Changes)
	}
	all := newTurns(len(r.entrants), len(conditions), p.Rounds)
	for round := range p.Rounds {
		for nth, i := range order(len(r.entrants), round) {
			e := r.entrants[i]
			done := (float64(round) + float64(nth)/float64(len(r.entrants))) / float64(p.Rounds)
			p.progress(fmt.Sprintf("measuring %s, round %d of %d", setup.Name, round+1, p.Rounds), done)
			for c, changes := range conditions {
				t := &turn{plan: p, entrant: e, setup: setup, changes: changes, clock: r.clock, first: round * len(setup.Queries) / p.Rounds}
				if e.like == nil && !changes.any() {
					t.right = r.right[at]
				}
				m, err := t.run(ctx)
				if err != nil {
					return fmt.Errorf("%s on setup %s: %w", e.Name(), setup.Name, err)
				}
				all[i][c][round] = m
			}
		}
	}
	if err := r.checkChanged(ctx, setup); err != nil {
		return err
	}
	r.addRows(at, conditions, all)
	return nil
}

// turns are what was measured, by entrant, condition and round.
type turns [][][]*measured

func newTurns(entrants, conditions, rounds int) turns {
	all := make(turns, entrants)
	for i := range all {
		all[i] = make([][]*measured, conditions)
		for c := range all[i] {
			all[i][c] = make([]*measured, rounds)
		}
	}
	return all
}

// order is in which order n have their turns in a round: there, then back, then
// both again with another one first.
func order(n, round int) []int {
	out := make([]int, n)
	for i := range out {
		at := i
		if round%2 == 1 {
			at = n - 1 - i
		}
		out[i] = (at + round/2) % n
	}
	return out
}

func (r *run) close() (err error) {
	for _, e := range r.entrants {
		err = errors.Join(err, e.store.Close())
	}
	return err
}
