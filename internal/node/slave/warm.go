package slave

import (
	"context"
	"time"

	"adshard/internal/wait"
)

// warmEvery is the longest time after which lists and groups that have been added are looked for: those of
// filled slices and of new words.
const warmEvery = 30 * time.Second

// warm prepares posting lists and caches groups, so that the first searches after a start, a copy or a fill need not do
// it.
func (s *Slave) warm(ctx context.Context) {
	caughtUp := func() bool { return s.proxy.State().CaughtUp }
	for ctx.Err() == nil {
		was, began := caughtUp(), time.Now()
		if n := s.store.Warm(ctx); n > 0 {
			s.log.Debug("posting lists are prepared", "lists", n, "took", time.Since(began))
		}
		rest(ctx, was, caughtUp)
	}
}

// rest waits for warmEvery, or about until the slave has caught up if it had not before.
func rest(ctx context.Context, was bool, caughtUp func() bool) {
	for range warmEvery / time.Second {
		is := caughtUp()
		if is && !was || wait.Sleep(ctx, time.Second) != nil {
			return
		}
		was = is
	}
}
