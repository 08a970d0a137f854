package kv

import (
	"context"

	"adshard/fault"
)

// Over reports whether ctx has ended. It calls Err instead of Done, for which a context may have to
// start a timer (internal/node/stream).
func Over(ctx context.Context) bool { return ctx.Err() != nil }

// Ended returns the error of a context that has ended: fault.Deadline or
// fault.Cancelled.
func Ended(ctx context.Context, op string) error {
	err := context.Cause(ctx)
	if ctx.Err() == context.DeadlineExceeded {
		return fault.New(fault.Deadline, op, err)
	}
	return fault.New(fault.Cancelled, op, err)
}
