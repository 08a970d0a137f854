package barrels

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPause: the steps of maintenance leave most of the time to buckets.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u upkeep
		for _, c := range []struct {
			after      time.Duration
			changes    int
			took, want time.Duration
		}{
			{0, 0, time.Millisecond, time.Millisecond},
			{0, 1, time.Millisecond, busyPause * time.Millisecond},
			{busyTime - 1, 0, time.Millisecond, busyPause * time.Millisecond},
			{1, 0, time.Millisecond, time.Millisecond},
			{0, 0, time.Hour, stepTime},
			{0, 100, time.Hour, busyPause * stepTime},
			{busyTime / 2, 1, 0, 0},
			{busyTime / 2, 0, time.Millisecond, busyPause * time.Millisecond},
		} {
			time.Sleep(c.after)
			u.add(c.changes)
			if got := u.pause(c.took); got != c.want {
				t.Errorf("a step of %v, %v later and with %d changes before it, is followed by a pause of %v, want %v",
					c.took, c.after, c.changes, got, c.want)
			}
		}
	})
}
