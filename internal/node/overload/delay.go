package overload

import (
	"math"
	"runtime/metrics"
	"syscall"
	"time"
)

// Delay returns a function that returns a quantile of the times that goroutines have waited for a
// processor since its last call, from the runtime's histogram. The first call counts from the start
// of the process.
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

// unlessBusy returns a function that returns the result of `delay`, or more than `long` if this
// process has used three quarters of `processors` since the last call. Once all of Go's processors
// are busy, Go checks the network only every 10 ms, and what waits there does not appear in any
// delay of goroutines.
func unlessBusy(processors int, used func() time.Duration, delay func() time.Duration) func() time.Duration {
	at, before := time.Now(), used()
	return func() time.Duration {
		now, sum, d := time.Now(), used(), delay()
		busy := (sum-before)*4 >= now.Sub(at)*time.Duration(processors)*3
		if at, before = now, sum; busy {
			return max(d, long+1)
		}
		return d
	}
}

// processorTime returns the processor time that this process has used, or 0 if it is not known.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
