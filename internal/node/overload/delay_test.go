package overload

import (
	"math"
	"runtime/metrics"
	"testing"
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
