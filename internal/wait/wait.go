// Package wait has waits that the standard library leaves to its callers: for a
// time that a context cuts short, between attempts that fail, and for the next
// change of something shared.
package wait

import (
	"context"
	"sync"
	"time"
)

// Sleep pauses for d. It returns early, with the cause, when ctx ends; a d of 0
// or less only asks whether ctx has ended.
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

// Broadcast wakes all goroutines that wait for a change. The zero value is
// ready to use; it must not be copied.
//
// To miss nothing, take Next before reading what may change:
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
	next chan struct{} // nil: there was no question since the last change
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

// Notify wakes all that wait on a channel of Next.
func (b *Broadcast) Notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
