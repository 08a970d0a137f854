package wait_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/wait"
)

// TestComplaint: a failure is told once, again after a minute, and when its kind changes; a peer that is away, only when it stays away.
func TestComplaint(t *testing.T) {
	away, refused := fault.New(fault.Unavailable, "x", errors.New("away")), fault.New(fault.Conflict, "x", errors.New("refused"))
	synctest.Test(t, func(t *testing.T) {
		var c wait.Complaint
		for i, s := range []struct {
			after time.Duration
			err   error
			tell  bool
		}{
			{0, away, false}, {time.Second, away, false}, {0, nil, false},
			{time.Second, away, false}, {2 * time.Second, away, true}, {time.Second, away, false},
			{time.Second, refused, true}, {time.Second, refused, false}, {59 * time.Second, refused, true}, {time.Second, away, true},
			{time.Second, nil, false}, {0, refused, true}, {0, nil, false}, {0, refused, true},
			{0, nil, false}, {0, errors.New("of no kind"), true},
		} {
			time.Sleep(s.after)
			if got := c.Tell(s.err); got != s.tell {
				t.Errorf("step %d: %v", i, got)
			}
		}
	})
}
