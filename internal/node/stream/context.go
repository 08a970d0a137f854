package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// itemContext is the context of an ask. It has the values of its stream and a deadline of its own,
// and ends when cancel is called, which the end of the stream does, too. It needs a timer only if
// something waits for Done: callers of Err, such as stores, read the clock.
type itemContext struct {
	context.Context // of the stream
	deadline        time.Time

	cancelled atomic.Bool
	mu        sync.Mutex
	waited    context.Context // what Done waits for, or nil if nothing waits; under mu
	stop      func()          // ends waited; under mu
}

// Deadline implements context.Context.
func (c *itemContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Err implements context.Context.
func (c *itemContext) Err() error {
	switch {
	case c.cancelled.Load():
		return context.Canceled
	case time.Until(c.deadline) <= 0:
		return context.DeadlineExceeded
	}
	return nil
}

// Done implements context.Context.
func (c *itemContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited == nil {
		c.waited, c.stop = context.WithDeadline(context.Background(), c.deadline)
		if c.cancelled.Load() {
			c.stop()
		}
	}
	return c.waited.Done()
}

func (c *itemContext) cancel() {
	c.cancelled.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
}
