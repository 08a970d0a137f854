package replicas

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"adshard/internal/wait"
	"adshard/search"
)

// Slave is a replica's store.
type Slave interface {
	search.Searcher
	search.Explainer
}

// Slow is a slave whose searches can be made longer. It counts its searches.
type Slow struct {
	Slave
	// Longer returns how much longer the next search takes; nil: searches are not made
	// longer.
	Longer func() time.Duration
	calls  atomic.Int64
}

// Calls returns the number of searches so far.
func (s *Slow) Calls() int64 { return s.calls.Load() }

// Search implements search.Searcher.
func (s *Slow) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	s.calls.Add(1)
	if s.Longer != nil {
		if d := s.Longer(); d > 0 {
			if err := wait.Sleep(ctx, d); err != nil {
				return nil, err
			}
		}
	}
	return s.Slave.Search(ctx, r)
}

// Sometimes makes a randomly drawn share of the searches longer, like reads from a busy
// disk.
func Sometimes(share float64, d time.Duration) func() time.Duration {
	return func() time.Duration {
		if rand.Float64() < share {
			return d
		}
		return 0
	}
}

// AtTimes makes all searches longer during the first part of each period, as on a machine
// that sometimes does other work.
func AtTimes(period, part, d time.Duration) func() time.Duration {
	began := time.Now()
	return func() time.Duration {
		if time.Since(began)%period < part {
			return d
		}
		return 0
	}
}

// Always makes all searches longer.
func Always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
