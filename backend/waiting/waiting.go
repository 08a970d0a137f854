// Package waiting implements backend.Feed's Wait for backends that learn of some
// commits at once and of the others by looking now and then.
package waiting

import (
	"context"
	"sync"
	"time"

	"adshard/backend"
	"adshard/internal/wait"
)

// Waiter waits for commits. Its fields are set before its first use.
type Waiter struct {
	// Newest reads the position of the newest change.
	Newest func(context.Context) (backend.Position, error)
	// Poll is how often it is read without Notify, once for all who wait.
	Poll time.Duration

	commits wait.Broadcast

	mu        sync.Mutex
	lookedAt  time.Time        // when the last look began; under mu
	notified  <-chan struct{}  // closed by the first Notify after it
	newestWas backend.Position // what it found
}

// Notify wakes all who wait, to look at once.
func (w *Waiter) Notify() { w.commits.Notify() }

// Wait does what backend.Feed's Wait does.
func (w *Waiter) Wait(ctx context.Context, after backend.Position) error {
	since := time.Now()
	for {
		now, at, notified, err := w.lookSince(ctx, since)
		if err != nil || now.Clock != after.Clock || after.Mark != 0 && now.Mark != after.Mark {
			return err
		}
		since = at.Add(w.Poll)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-notified:
			since = time.Now()
		case <-time.After(time.Until(since)):
		}
	}
}

// lookSince returns the newest change as of a look that began no earlier than
// since and after the last Notify: the last one of any caller of Wait, or a new
// one. The next Notify closes notified.
func (w *Waiter) lookSince(ctx context.Context, since time.Time) (newest backend.Position, at time.Time, notified <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	notified = w.commits.Next()
	if w.lookedAt.Before(since) || w.notified != notified {
		at = time.Now()
		if newest, err = w.Newest(ctx); err != nil {
			return newest, at, notified, err
		}
		w.lookedAt, w.notified, w.newestWas = at, notified, newest
	}
	return w.newestWas, w.lookedAt, notified, nil
}
