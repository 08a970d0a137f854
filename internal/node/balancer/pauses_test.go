package balancer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestMovesPauseLongerWhereProcessorsAreShort: up to mostSlow times as long as the work, and again
// as long as the work soon after there is time to spare.
func TestMovesPauseLongerWhereProcessorsAreShort(t *testing.T) {
	const took = 5 * time.Millisecond
	var p pauses
	if d := p.length(took); d != took {
		t.Errorf("at first %v", d)
	}
	for range 10 {
		p.ended(2 * late)
	}
	if d := p.length(took); d != mostSlow*took {
		t.Errorf("while pauses end late: %v", d)
	}
	if d := p.length(time.Second); d != longestPause {
		t.Errorf("after long work: %v", d)
	}
	for range 5 { // all but one in six end in time
		p.ended(0)
	}
	if p.ended(2 * late); p.length(took) < mostSlow*took {
		t.Errorf("one late pause in six: %v", p.length(took))
	}
	for range 30 {
		p.ended(late)
	}
	if d := p.length(took); d != took {
		t.Errorf("when there is time to spare: %v", d)
	}
}

// TestAPauseEndsWithItsContext, and lasts as long as it is to otherwise.
func TestAPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := pauses{slow: 4}, time.Now()
		if err := p.after(t.Context(), time.Millisecond); err != nil || time.Since(began) != 4*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if p.slow >= 4 {
			t.Errorf("a pause that ended in time leaves %v", p.slow)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if p.after(ctx, time.Millisecond) == nil {
			t.Error("a pause goes on without its context")
		}
	})
}
