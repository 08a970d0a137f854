package wire

import (
	"context"
	"time"
)

// pollMargin is left of a call's deadline when a long poll ends.
const pollMargin = 50 * time.Millisecond

// LongPoll bounds a long poll: by the time asked for and by a little less than
// the call's deadline.
func LongPoll(ctx context.Context, waitMs uint32) (context.Context, context.CancelFunc) {
	wait := time.Duration(waitMs) * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-pollMargin)
	}
	return context.WithTimeout(ctx, max(wait, 0))
}
