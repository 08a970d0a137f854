// Package waiting implements backend.Feed's Wait for backends that are notified of some commits at once and learn of
// the others by looking at intervals.
package waiting

import (
	"context"
	"sync"
	"time"

	"adshard/backend"
	"adshard/internal/wait"
)

// Waiter waits for commits. Its fields must be set before its first use.
type Waiter struct {
	// Newest reads the position of the newest change.
	Newest func(context.Context) (backend.Position, error)
	// Poll is the interval at which Newest is called without Notify, once for all callers of Wait.
	Poll time.Duration

	commits wait.Broadcast

	mu        sync.Mutex
	lookedAt  time.Time        // when the last look began; under mu
	notified  <-chan struct{}  // closed by the first Notify after that look
	newestWas backend.Position // the position that the look found
}

// Notify makes all callers of Wait look at once.
func (w *Waiter) Notify() { w.commits.Notify() }

// Wait does what Wait of backend.Feed does.
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

// lookSince returns the newest position from a look that began no earlier than `since` and after the last Notify.
// That is the last look of any caller of Wait, or a new one. The next Notify closes notified.
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
