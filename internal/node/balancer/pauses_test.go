package balancer

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adshard/balance"
)

// TestMovesPauseLongerWhereProcessorsAreShort: pauses grow to mostSlow times the length of the work. They are as long as the
// work again soon after processors have time to spare.
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

// TestAPauseHoldsUpNobodyWhoWaits: during a pause, the questions are taken whose answer something waits for, in order. A
// strategy's own questions are taken after the pause.
func TestAPauseHoldsUpNobodyWhoWaits(t *testing.T) {
	asked := []balance.Certify{{Seq: 1}, {Seq: 2, Needed: true}, {Seq: 3}, {Seq: 4, Needed: true, Target: "b"}, {Seq: 5}}
	awaits := func(seq uint64) bool { return seq != 3 }
	for _, step := range []struct {
		pausing bool
		want    uint64 // 0 for none
	}{{true, 2}, {true, 4}, {true, 0}, {false, 1}, {true, 0}, {false, 5}, {false, 0}} {
		if got := seqs(dequeueCertificates(&asked, awaits, step.pausing)); len(got) > 1 || len(got) == 1 != (step.want > 0) || len(got) == 1 && got[0] != step.want {
			t.Errorf("pausing %v: questions %d, want %d", step.pausing, got, step.want)
		}
	}
}

// TestSmallQuestionsAreTakenTogether: questions about the same slaves are taken together if something waits for the answers, up
// to a number and a weight, in order.
func TestSmallQuestionsAreTakenTogether(t *testing.T) {
	asked := []balance.Certify{
		{Seq: 1, Needed: true, Target: "a", Weight: togetherWeight / 2},
		{Seq: 2, Needed: true, Target: "b"},
		{Seq: 3, Target: "a"},
		{Seq: 4, Needed: true, Target: "a", Changing: true},
		{Seq: 5, Needed: true, Target: "a", Source: "b"},
		{Seq: 6, Needed: true, Target: "a", Weight: togetherWeight},
		{Seq: 7, Needed: true, Target: "a", Weight: togetherWeight / 2},
		{Seq: 8, Needed: true, Target: "a", Weight: 1},
		{Seq: 9, Needed: true, Target: "a", Alone: true},
		{Seq: 10, Needed: true, Target: "a", Within: time.Minute},
	}
	for i := range uint64(together + 1) {
		asked = append(asked, balance.Certify{Seq: 11 + i, Needed: true, Target: "c"})
	}
	all := func(uint64) bool { return true }
	for _, want := range [][]uint64{{1, 7}, {2}, {3}, {4}, {5}, {6}, {8}, {9}, {10}, {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26}, {27}, nil} {
		if got := seqs(dequeueCertificates(&asked, all, false)); !slices.Equal(got, want) {
			t.Errorf("questions %d, want %d", got, want)
		}
	}
}

func seqs(list []balance.Certify) (out []uint64) {
	for _, c := range list {
		out = append(out, c.Seq)
	}
	return out
}

// TestAPauseEnds: a pause ends after its time, when there are more questions, or with its context. Only the first case shows
// whether processors are overloaded.
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
