package paired

import (
	"context"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/bench/layouts"
	"adshard/bench/measure"
)

// patience limits the first pass of a turn: it may take this many times the
// turn's time.
const patience = 4

// turn is one layout's turn on one setup in one round.
type turn struct {
	plan    *Plan
	entrant *entrant
	setup   *layouts.Setup
	changes Changes
	clock   time.Duration
	// first is the query with which the turn begins.
	first int
	// right holds the correct answers to the queries; nil if they are not known
	// because keywords change.
	right []layouts.Found
}

// measured is the result of a turn.
type measured struct {
	latencies *measure.Latencies
	perSecond float64
	// mean is the mean time of each query in seconds, or 0 if it was not asked.
	mean []float64
	// asked is the number of queries asked, including repetitions.
	asked int64
	// changed is the number of keywords changed within `seconds`.
	changed int64
	seconds float64
}

// run warms the store up and measures.
func (t *turn) run(ctx context.Context) (_ *measured, err error) {
	workers, err := t.workers()
	defer func() { err = errors.Join(err, dismiss(workers)) }()
	if err != nil {
		return nil, err
	}
	runtime.GC() // garbage of others must not count here
	length := t.plan.Time / time.Duration(t.plan.Rounds)
	if t.plan.CacheShare > 0 {
		stop, failed := KeepCold(t.entrant.dir)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if err := workers[0].warm(ctx, length/4); err != nil {
		return nil, err
	}
	start := time.Now()
	search := func(ctx context.Context) error { return together(ctx, workers, start, length) }
	changed := int64(0)
	if t.changes.any() {
		changed, err = changing(ctx, t, workers, search)
	} else {
		err = search(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.sum(workers, changed, time.Since(start).Seconds()), nil
}

// workers returns one worker for each thread. They begin at different queries.
func (t *turn) workers() ([]*worker, error) {
	var all []*worker
	for i := range t.plan.Threads {
		s, err := t.entrant.store.Searcher()
		if err != nil {
			return all, err
		}
		all = append(all, newWorker(t, s, t.first+i*len(t.setup.Queries)/t.plan.Threads))
	}
	return all, nil
}

func dismiss(workers []*worker) (err error) {
	for _, w := range workers {
		err = errors.Join(err, w.searcher.Close())
	}
	return err
}

// together runs all workers for a time.
func together(ctx context.Context, workers []*worker, start time.Time, length time.Duration) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range workers {
		g.Go(func() error { return w.search(ctx, start, length) })
	}
	return g.Wait()
}

// sum combines what the workers have measured.
func (t *turn) sum(workers []*worker, changed int64, seconds float64) *measured {
	m := &measured{latencies: measure.NewLatencies(), mean: make([]float64, len(t.setup.Queries)), changed: changed, seconds: seconds}
	times := make([]int, len(m.mean))
	for _, w := range workers {
		m.latencies.Merge(w.latencies)
		m.perSecond += float64(w.latencies.Count()) / max(w.busy, 1).Seconds()
		for i := range m.mean {
			m.mean[i] += w.took[i].Seconds()
			times[i] += w.times[i]
		}
	}
	for i, n := range times {
		m.mean[i] /= float64(max(1, n))
	}
	m.asked = m.latencies.Count()
	return m
}
