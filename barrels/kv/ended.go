package kv

import (
	"context"

	"adshard/fault"
)

// Over reports whether ctx has ended. It asks for the error, since a context may need
// a timer for whoever waits for its end (internal/node/stream).
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
