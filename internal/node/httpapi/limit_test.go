package httpapi

import (
	"math"
	"runtime/metrics"
	"testing"
	"time"
)

func TestLimiterAdapts(t *testing.T) {
	delay := longDelay * 2
	l := newLimiter(80, func() time.Duration { return delay })
	for range 100 {
		l.adapt(delay)
	}
	if got := l.limit.Load(); got != 10 {
		t.Errorf("under pressure: %d, want an eighth", got)
	}
	for range 10 {
		if !l.enter() {
			t.Fatal("refused below the limit")
		}
	}
	if l.enter() {
		t.Error("taken beyond the limit")
	}
	for range 100 {
		l.adapt(0)
	}
	if got := l.limit.Load(); got != 80 {
		t.Errorf("without pressure: %d, want all", got)
	}
	one := newLimiter(1, nil)
	one.adapt(delay)
	if got := one.limit.Load(); got != 1 {
		t.Errorf("the least limit: %d", got)
	}
}

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
		if got := percentile90(h, c.before); got != c.want {
			t.Errorf("before %v: %v, want %v", c.before, got, c.want)
		}
	}
	if d := schedulerDelay()(); d < 0 || d > time.Minute {
		t.Errorf("the runtime's delay: %v", d)
	}
}
