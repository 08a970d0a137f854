package barrels

import (
	"testing"
	"time"
)

// TestPause: steps leave most of the time to the buckets that come meanwhile.
func TestPause(t *testing.T) {
	var u upkeep
	for _, c := range []struct {
		changes    int
		took, want time.Duration
	}{
		{0, time.Millisecond, time.Millisecond},
		{1, time.Millisecond, busyPause * time.Millisecond},
		{0, time.Millisecond, time.Millisecond},
		{0, time.Hour, stepTime},
		{100, time.Hour, busyPause * stepTime},
	} {
		u.add(c.changes)
		if got := u.pause(c.took); got != c.want {
			t.Errorf("a step of %v with %d changes before it is followed by a pause of %v, want %v", c.took, c.changes, got, c.want)
		}
	}
}
