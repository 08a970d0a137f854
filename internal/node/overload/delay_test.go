package overload

import (
	"math"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

func TestPercentile(t *testing.T) {
	h := &metrics.Float64Histogram{
		Counts:  []uint64{10, 90, 5, 5},
		Buckets: []float64{math.Inf(-1), 0.001, 0.010, 0.100, math.Inf(1)},
	}
	for _, c := range []struct {
		before []uint64
		want   time.Duration
	}{
		{nil, time.Millisecond},
		{[]uint64{10, 90, 0, 0}, 100 * time.Millisecond},
		{[]uint64{0, 90, 5, 5}, 0},
		{[]uint64{10, 90, 5, 5}, 0},
	} {
		if got := delayOf(h, c.before, 0.9); got != c.want {
			t.Errorf("before %v: %v, want %v", c.before, got, c.want)
		}
	}
	if d := Delay(0.9)(); d < 0 || d > time.Minute {
		t.Errorf("the runtime's delay: %v", d)
	}
}

// TestBusyProcessors: a process that uses most of its processors has no time for more work, however
// short the delays of its goroutines are.
func TestBusyProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used time.Duration
		delay := unlessBusy(2, func() time.Duration { return used }, func() time.Duration { return time.Microsecond })
		for _, c := range []struct {
			used time.Duration
			busy bool
		}{{0, false}, {149 * time.Millisecond, false}, {150 * time.Millisecond, true}, {200 * time.Millisecond, true}, {time.Millisecond, false}} {
			time.Sleep(100 * time.Millisecond)
			used += c.used
			if d := delay(); (d > long) != c.busy || !c.busy && d != time.Microsecond {
				t.Errorf("%v of 200ms used: %v", c.used, d)
			}
		}
	})
	if processorTime() <= 0 {
		t.Error("the time that this process has used is not known")
	}
}
