package replicas

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/bench/measure"
	"adshard/internal/wait"
	"adshard/search"
)

// Each asks every query once, in a random order, with the given number of workers.
func Each(ctx context.Context, queries []*search.Query, workers int, ask Asker) (*measure.Latencies, error) {
	all, order := measure.NewLatencies(), rand.Perm(len(queries))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			times := measure.NewLatencies()
			for i := w; i < len(order); i += workers {
				if err := timed(ctx, queries[order[i]], ask, times.Add); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.Merge(times)
			return nil
		})
	}
	return all, group.Wait()
}

// Arrivals asks randomly drawn queries at random times with the given mean rate, however long
// the answers take.
func Arrivals(ctx context.Context, queries []*search.Query, rate float64, duration time.Duration, ask Asker) (*measure.Latencies, error) {
	all := measure.NewLatencies()
	var mu sync.Mutex
	count := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		all.Add(d)
	}
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for at := time.Duration(0); at < duration; at += time.Duration(rand.ExpFloat64() / rate * float64(time.Second)) {
		if err := wait.Sleep(ctx, time.Until(began.Add(at))); err != nil {
			break // the group has the error
		}
		q := queries[rand.IntN(len(queries))]
		group.Go(func() error { return timed(ctx, q, ask, count) })
	}
	return all, group.Wait()
}

func timed(ctx context.Context, q *search.Query, ask Asker, count func(time.Duration)) error {
	began := time.Now()
	call, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := ask(call, q); err != nil {
		return err
	}
	count(time.Since(began))
	return nil
}
