package wait_test

import (
	"testing"
	"time"

	"adshard/internal/wait"
)

func TestLimiter(t *testing.T) {
	l := wait.Limiter{Burst: 3, Every: time.Second}
	now := time.Now()
	for i, c := range []struct {
		after time.Duration
		want  int // events that are allowed of five
	}{{0, 3}, {999 * time.Millisecond, 0}, {time.Millisecond, 1}, {2 * time.Second, 2}, {time.Hour, 3}, {-time.Minute, 0}} {
		now = now.Add(c.after)
		got := 0
		for range 5 {
			if l.Allow(now) {
				got++
			}
		}
		if got != c.want {
			t.Errorf("step %d: %d events, want %d", i, got, c.want)
		}
	}
}
