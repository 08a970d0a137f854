package wire

import (
	"context"
	"time"
)

// pollMargin is how long before the deadline of its call a long poll ends.
const pollMargin = 50 * time.Millisecond

// LongPoll returns a context for a long poll. It ends after the requested time, or shortly before
// the deadline of the call.
func LongPoll(ctx context.Context, waitMs uint32) (context.Context, context.CancelFunc) {
	wait := time.Duration(waitMs) * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-pollMargin)
	}
	return context.WithTimeout(ctx, max(wait, 0))
}
