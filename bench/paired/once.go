package paired

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"adshard/bench/layouts"
)

// fewest is the number of new queries that a setup needs for a pass over half of them.
const fewest = 20

// once reports whether stores are timed with queries that they were never asked before.
func (p *Plan) once() bool {
	return p.Once && p.Threads == 1 && p.CacheShare == 0 && !p.Changes.any()
}

// firstTime asks a newly built store queries that it has never seen. It takes the queries of
// each setup that no earlier setup has: half to warm up, and then the others with timing, each
// once. Answers that a store keeps for repeated queries do not help here.
func (r *run) firstTime(ctx context.Context, e *entrant) error {
	if !r.plan.once() {
		return nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e.once = make([]*measured, len(r.plan.Setups))
	asked := make(map[string]bool)
	for i := range r.plan.Setups {
		s := &r.plan.Setups[i]
		fresh, right := unasked(s, r.right[i], asked)
		if len(fresh) < fewest {
			continue
		}
		r.plan.progress(fmt.Sprintf("asking %s each query of %s once", e.Name(), s.Name), -1)
		m, err := r.halves(ctx, e, s.Name, fresh, right)
		if err != nil {
			return fmt.Errorf("setup %s: %w", s.Name, err)
		}
		e.once[i] = m
	}
	return nil
}

// unasked returns the queries of a setup whose texts are not yet in `asked`, with what they
// find, and adds their texts to it.
func unasked(s *layouts.Setup, right []layouts.Found, asked map[string]bool) (fresh []*layouts.Query, found []layouts.Found) {
	for i, q := range s.Queries {
		if !asked[q.Text] {
			asked[q.Text] = true
			fresh, found = append(fresh, q), append(found, right[i])
		}
	}
	return fresh, found
}

// halves warms up with the first half of the queries and measures the second.
func (r *run) halves(ctx context.Context, e *entrant, name string, queries []*layouts.Query, right []layouts.Found) (_ *measured, err error) {
	half := len(queries) / 2
	t := &turn{plan: r.plan, entrant: e, clock: r.clock, right: right[half:], setup: &layouts.Setup{Name: name, Queries: queries[half:]}}
	workers, err := t.workers()
	defer func() { err = errors.Join(err, dismiss(workers)) }()
	if err != nil {
		return nil, err
	}
	runtime.GC()
	patient := patience * r.plan.Time
	until := time.Now().Add(patient)
	for _, q := range queries[:half] {
		if _, err := workers[0].searcher.Search(ctx, q); err != nil {
			return nil, fmt.Errorf("query %q: %w", q.Text, err)
		}
		if time.Now().After(until) {
			break
		}
	}
	start := time.Now()
	if _, err := workers[0].onePass(ctx, start.Add(patient)); err != nil {
		return nil, err
	}
	return t.sum(workers, 0, time.Since(start).Seconds()), nil
}

// addOnce adds a row for each layout and setup with queries that were asked for the first
// time.
func (r *run) addOnce() {
	for at := range r.plan.Setups {
		all := make(turns, len(r.entrants))
		for i, e := range r.entrants {
			if e.once == nil || e.once[at] == nil {
				all = nil
				break
			}
			all[i] = [][]*measured{{e.once[at]}}
		}
		if all == nil {
			continue
		}
		matches, queries := r.matchesOnce(at)
		for i, e := range r.entrants {
			row := Row{
				Name: e.Name(), Setup: r.plan.Setups[at].Name + ", once", Keywords: r.plan.Set.Len(), BytesPerKeyword: e.bytes(r.plan.Set.Len()),
				BuildSeconds: e.seconds, Matches: matches, Queries: queries, Ratios: r.ratios(all, i, 0), Peer: e.peer, Once: true,
			}
			row.figures(all[i][0])
			r.result.Rows = append(r.result.Rows, row)
		}
	}
}

// matchesOnce returns the number of queries of a setup that are timed when asked for the first
// time, and the number of their matches.
func (r *run) matchesOnce(at int) (matches uint64, queries int) {
	asked := make(map[string]bool)
	var right []layouts.Found
	for i := range at + 1 {
		_, right = unasked(&r.plan.Setups[i], r.right[i], asked)
	}
	right = right[len(right)/2:]
	for _, f := range right {
		matches += f.Matches
	}
	return matches, len(right)
}
