package kv

import (
	"context"

	"adshard/fault"
)

// Over reports whether ctx has ended.
func Over(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// Ended returns the error of a context that has ended: fault.Deadline or
// fault.Cancelled.
func Ended(ctx context.Context, op string) error {
	err := context.Cause(ctx)
	if ctx.Err() == context.DeadlineExceeded {
		return fault.New(fault.Deadline, op, err)
	}
	return fault.New(fault.Cancelled, op, err)
}
