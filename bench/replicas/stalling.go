package replicas

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"adshard/internal/wait"
	"adshard/search"
)

// Stalling is a slave of which now and then a search stalls, as a read of a busy disk
// does. It counts its searches.
type Stalling struct {
	Slave
	Share float64 // of the searches
	For   time.Duration
	calls atomic.Int64
}

// Calls is the number of searches so far.
func (s *Stalling) Calls() int64 { return s.calls.Load() }

// Search implements search.Searcher.
func (s *Stalling) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	s.calls.Add(1)
	if rand.Float64() < s.Share {
		if err := wait.Sleep(ctx, s.For); err != nil {
			return nil, err
		}
	}
	return s.Slave.Search(ctx, r)
}
