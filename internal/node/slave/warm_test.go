package slave

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRest: between two looks for posting lists a slave rests, but not once it has caught up, as after
// a fill or a copy.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name     string
			was      bool          // caught up before
			behind   time.Duration // how long it is behind; 0: never
			from, to time.Duration // when it has to look again
		}{
			{"it is up to date", true, 0, warmEvery, warmEvery},
			{"it catches up while it looks for lists", false, 0, 0, 0},
			{"it is filled", false, 10 * time.Second, 10 * time.Second, 11 * time.Second},
			{"it is copied", true, 10 * time.Second, 10 * time.Second, 11 * time.Second},
			{"it stays behind", false, time.Hour, warmEvery, warmEvery},
		} {
			began := time.Now()
			rest(t.Context(), c.was, func() bool { return time.Since(began) >= c.behind })
			if took := time.Since(began); took < c.from || took > c.to {
				t.Errorf("%s: it rests for %v, want %v to %v", c.name, took, c.from, c.to)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if rest(ctx, true, func() bool { return true }); time.Since(began) > 0 {
			t.Error("it rests beyond the context's end")
		}
	})
}
