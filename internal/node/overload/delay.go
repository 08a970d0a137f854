package overload

import (
	"math"
	"runtime/metrics"
	"time"
)

// Delay returns a function that returns a quantile of the time that goroutines have
// waited for a processor since its last call, from the runtime's histogram.
func Delay(quantile float64) func() time.Duration {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	var before []uint64
	return func() time.Duration {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
			return 0
		}
		h := sample[0].Value.Float64Histogram()
		d := delayOf(h, before, quantile)
		before = append(before[:0], h.Counts...)
		return d
	}
}

func delayOf(h *metrics.Float64Histogram, before []uint64, quantile float64) time.Duration {
	since := func(i int) uint64 {
		if i < len(before) {
			return h.Counts[i] - before[i]
		}
		return h.Counts[i]
	}
	var total, sum uint64
	for i := range h.Counts {
		total += since(i)
	}
	for i := range h.Counts {
		sum += since(i)
		if total > 0 && float64(sum) >= quantile*float64(total) {
			lower := h.Buckets[i]
			return time.Duration(math.Max(lower, 0) * float64(time.Second))
		}
	}
	return 0
}
