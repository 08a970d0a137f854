package overload

import (
	"math"
	"runtime/metrics"
	"time"
)

// Delay returns a function that returns the 90th percentile of the time
// that goroutines have waited for a processor since its last call, from the
// runtime's histogram.
func Delay() func() time.Duration {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	var before []uint64
	return func() time.Duration {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
			return 0
		}
		h := sample[0].Value.Float64Histogram()
		d := percentile90(h, before)
		before = append(before[:0], h.Counts...)
		return d
	}
}

func percentile90(h *metrics.Float64Histogram, before []uint64) time.Duration {
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
		if total > 0 && sum*10 >= total*9 {
			lower := h.Buckets[i]
			return time.Duration(math.Max(lower, 0) * float64(time.Second))
		}
	}
	return 0
}
