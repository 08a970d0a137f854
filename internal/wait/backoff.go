package wait

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff paces failing attempts. The first pause is about Least, and each further one twice as long as the previous
// one, up to about Most. Set both to more than 0. Only one goroutine may use a Backoff.
//
//	b := wait.Backoff{Least: 50 * time.Millisecond, Most: 2 * time.Second}
//	for try() != nil {
//		if err := b.Sleep(ctx); err != nil {
//			return err
//		}
//	}
type Backoff struct {
	Least, Most time.Duration

	next time.Duration // 0 means Least
}

// Sleep pauses for half to one and a half times the pause that is due, drawn at random, so that many that have failed
// together do not try again together. It returns early, with the cause, when ctx is done.
func (b *Backoff) Sleep(ctx context.Context) error {
	d := max(b.next, b.Least)
	b.next = min(2*d, b.Most)
	return Sleep(ctx, d/2+rand.N(d))
}

// Longest reports whether the next pause is the longest one.
func (b *Backoff) Longest() bool { return b.next >= b.Most }

// Reset begins again with the shortest pause. Call it after a success.
func (b *Backoff) Reset() { b.next = 0 }
