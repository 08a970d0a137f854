package balancer

import (
	"context"
	"testing"
	"time"
)

// TestAnswersSayHowOldTheyAre: answers do not lag while changes reach the slaves, nor while there
// are none. Without the balancer they lag more and more, but stay complete.
func TestAnswersSayHowOldTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	lag := func() time.Duration {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		a, err := w.master.Search(ctx, w.request())
		w.Must(err)
		if len(a.Missing) > 0 {
			t.Errorf("missing %v", a.Missing)
		}
		return a.Lag
	}
	w.eventually("no lag", func() bool { return lag() < 500*time.Millisecond })
	time.Sleep(3 * time.Second) // nothing changes
	w.eventually("no lag at rest", func() bool { return lag() < 500*time.Millisecond })
	w.stop()
	w.eventually("a lag", func() bool { return lag() > 1500*time.Millisecond })
	before := lag()
	time.Sleep(100 * time.Millisecond)
	if after := lag(); after < before+100*time.Millisecond {
		t.Errorf("it lags by %v, and later by %v", before, after)
	}
}
