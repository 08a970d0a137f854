// Package wait has waits that the standard library does not have: for a time that a context can cut short, between
// failing attempts, and for the next change of something shared; and it says which failures in a row are worth a line in the log.
package wait

import (
	"context"
	"sync"
	"time"
)

// Sleep pauses for d. It returns early, with the cause, when ctx is done. If d is 0 or less it only checks whether
// ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil || d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// Broadcast wakes all goroutines that wait for a change. The zero value is ready to use. A Broadcast must not be
// copied.
//
// In order to miss no change, call Next before reading what may change:
//
//	for {
//		next := b.Next()
//		if ready() {
//			return
//		}
//		<-next
//	}
type Broadcast struct {
	mu   sync.Mutex
	next chan struct{} // nil if Next was not called since the last Notify
}

// Next returns a channel that the next Notify closes.
func (b *Broadcast) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Notify wakes all goroutines that wait on a channel from Next.
func (b *Broadcast) Notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
