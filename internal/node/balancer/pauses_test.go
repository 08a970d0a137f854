package balancer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"adshard/balance"
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

// TestAPauseHoldsUpNobodyWhoWaits: in a pause the questions that somebody waits for are taken, in their order, and those of a
// strategy once it has ended.
func TestAPauseHoldsUpNobodyWhoWaits(t *testing.T) {
	asked := []balance.Certify{{Seq: 1}, {Seq: 2, Needed: true}, {Seq: 3}, {Seq: 4, Needed: true}, {Seq: 5}}
	awaits := func(seq uint64) bool { return seq != 3 }
	for _, step := range []struct {
		pausing bool
		want    uint64 // 0: none
	}{{true, 2}, {true, 4}, {true, 0}, {false, 1}, {true, 0}, {false, 5}, {false, 0}} {
		var got uint64
		if next := take(&asked, awaits, step.pausing); next != nil {
			got = next.Seq
		}
		if got != step.want {
			t.Errorf("pausing %v: question %d, want %d", step.pausing, got, step.want)
		}
	}
}

// TestAPauseEnds after its time, when more is asked, or with its context; only the first says whether processors are short.
func TestAPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := pauses{slow: 4}, time.Now()
		p.begin(time.Millisecond)
		if err := p.wait(t.Context(), nil); err != nil || time.Since(began) != 4*time.Millisecond || p.pausing() || p.slow >= 4 {
			t.Errorf("%v after %v; pausing %v, slow %v", err, time.Since(began), p.pausing(), p.slow)
		}
		p.slow = 4
		p.begin(time.Millisecond)
		more := make(chan struct{})
		close(more)
		if err := p.wait(t.Context(), more); err != nil || !p.pausing() || p.slow != 4 {
			t.Errorf("asked for more: %v; pausing %v, slow %v", err, p.pausing(), p.slow)
		}
		time.Sleep(time.Second) // other work
		if p.pausing() || p.slow != 4 {
			t.Errorf("after other work: pausing %v, slow %v", p.pausing(), p.slow)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if p.wait(ctx, nil) == nil {
			t.Error("it waits without its context")
		}
	})
}
