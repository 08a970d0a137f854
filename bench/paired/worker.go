package paired

import (
	"context"
	"fmt"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/measure"
)

// worker asks the queries of a setup, one after another.
type worker struct {
	searcher layouts.Searcher
	// told, if not nil, returns how long the last search took according to the searcher itself.
	told    func() time.Duration
	clock   time.Duration // what reading the clock once costs
	queries []*layouts.Query
	right   []layouts.Found // nil: not checked
	at      int             // the next query
	// paced, if not nil, is called after each search, outside its time. It waits if changes have
	// to catch up.
	paced func(ctx context.Context) error

	pass      []time.Duration // of the current pass
	latencies *measure.Latencies
	// took and times are, for each query, the sum of its times and how often it was asked. busy is
	// the total time, including waits.
	took  []time.Duration
	times []int
	busy  time.Duration
}

func newWorker(t *turn, s layouts.Searcher, first int) *worker {
	n := len(t.setup.Queries)
	w := &worker{
		searcher: s, clock: t.clock, queries: t.setup.Queries, at: first % n, pass: make([]time.Duration, 0, n),
		latencies: measure.NewLatencies(), took: make([]time.Duration, n), times: make([]int, n),
	}
	if t.entrant.Provides().Matches {
		w.right = t.right
	}
	if timed, ok := s.(layouts.Timed); ok {
		w.told = timed.Took
	}
	return w
}

// warm asks queries for a time, but at most one pass.
func (w *worker) warm(ctx context.Context, length time.Duration) error {
	until := time.Now().Add(length)
	for i := range w.queries {
		q := w.queries[(w.at+i)%len(w.queries)]
		if _, err := w.searcher.Search(ctx, q); err != nil {
			return fmt.Errorf("query %q: %w", q.Text, err)
		}
		if time.Now().After(until) {
			return nil
		}
	}
	return nil
}

// search runs whole passes until the time is up.
func (w *worker) search(ctx context.Context, start time.Time, length time.Duration) error {
	for {
		whole, err := w.onePass(ctx, start.Add(patience*length))
		if err != nil || !whole || time.Since(start) >= length {
			return err
		}
	}
}

// onePass asks every query once, or returns false if the time until is reached before. A thread
// that begins later than that asks one query, so that it counts.
func (w *worker) onePass(ctx context.Context, until time.Time) (whole bool, err error) {
	w.pass = w.pass[:0]
	first, n := w.at, len(w.queries)
	start := time.Now()
	last := start
	for len(w.pass) == 0 || len(w.pass) < n && last.Before(until) {
		f, err := w.searcher.Search(ctx, w.queries[w.at])
		now := time.Now()
		if err != nil {
			return false, fmt.Errorf("query %q: %w", w.queries[w.at].Text, err)
		}
		if w.right != nil && f.Matches != w.right[w.at].Matches {
			return false, fmt.Errorf("query %q: it finds %d keywords where %d match, and found them before", w.queries[w.at].Text, f.Matches, w.right[w.at].Matches)
		}
		took := max(1, now.Sub(last)-w.clock)
		if w.told != nil {
			took = w.told()
		}
		w.pass = append(w.pass, took)
		if w.at++; w.at == n {
			w.at = 0
		}
		last = now
		if w.paced != nil {
			if err := w.paced(ctx); err != nil {
				return false, err
			}
			last = time.Now()
		}
	}
	w.count(first, last.Sub(start)-time.Duration(len(w.pass))*w.clock)
	return len(w.pass) == n, nil
}

// count adds a pass that began with a query and took the given time.
func (w *worker) count(first int, busy time.Duration) {
	sum := time.Duration(0)
	for i, took := range w.pass {
		q := (first + i) % len(w.queries)
		w.latencies.Add(took)
		w.took[q] += took
		w.times[q]++
		sum += took
	}
	if w.told != nil {
		busy = sum
	}
	w.busy += busy
}
