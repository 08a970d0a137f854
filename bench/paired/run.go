package paired

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"adshard/bench/layouts"
)

// Run measures what the plan says. Layouts that lack something on this machine
// (fault.Unavailable) are left out, and the result says so. Any other error, or a layout
// with wrong answers, ends the run.
func Run(ctx context.Context, p *Plan) (_ *Result, err error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	r := &run{plan: p, result: &Result{}, clock: ClockCost()}
	defer func() { err = errors.Join(err, r.close()) }()
	// One thread: Go's own work (garbage collection) is part of the measured work.
	threads := p.Threads
	if p.Changes.any() || p.CacheShare > 0 {
		threads++ // for the changes or the dropping of pages
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

// run is a run in progress.
type run struct {
	plan  *Plan
	clock time.Duration // what reading the clock costs
	// right holds the correct answer to each query of each setup.
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
	// once holds the results of queries that were asked for the first time, by setup; nil if
	// there were too few.
	once []*measured
	// like holds, for each keyword, the keyword whose words it has; nil: its own.
	like []uint32
}

// measure runs the rounds of a setup and adds its rows.
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

// turns holds what was measured, by entrant, condition and round.
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

// order returns the order in which n entrants have their turns in a round: forwards, then
// backwards, then both again beginning with another entrant.
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
