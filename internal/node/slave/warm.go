package slave

import (
	"context"
	"time"

	"adshard/internal/wait"
)

// warmEvery is the time between two searches for lists that have been added since: lists of filled
// slices and of new words.
const warmEvery = 30 * time.Second

// warm prepares posting lists, so that the first searches after a start or a fill need not do it.
func (s *Slave) warm(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		if n := s.store.Warm(ctx); n > 0 {
			s.log.Debug("posting lists are prepared", "lists", n, "took", time.Since(began))
		}
		_ = wait.Sleep(ctx, warmEvery) // the loop checks ctx
	}
}
