package httpapi

import (
	"math"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// limiter bounds the searches under way. The bound adapts: when goroutines
// wait long for a processor, more searches at once only make each slower, so
// it falls by a fifth per window, down to an eighth; else it rises again. A
// slave that hangs does not lower it: waiting for the network is no load.
type limiter struct {
	most    int64
	delay   func() time.Duration
	busy    atomic.Int64
	limit   atomic.Int64
	adapted atomic.Int64 // when, in nanoseconds since start
	start   time.Time

	mu sync.Mutex // held while adapting; guards delay
}

const (
	window    = 100 * time.Millisecond
	longDelay = 20 * time.Millisecond
)

// newLimiter returns a limiter of at most n; delay returns how long goroutines have
// waited for a processor since its last call.
func newLimiter(n int, delay func() time.Duration) *limiter {
	l := &limiter{most: int64(n), delay: delay, start: time.Now()}
	l.limit.Store(l.most)
	return l
}

// enter takes a place, or reports that there is none.
func (l *limiter) enter() bool {
	if now := int64(time.Since(l.start)); now-l.adapted.Load() > int64(window) && l.mu.TryLock() {
		l.adapted.Store(now)
		l.adapt(l.delay())
		l.mu.Unlock()
	}
	if l.busy.Add(1) > l.limit.Load() {
		l.busy.Add(-1)
		return false
	}
	return true
}

// leave gives the place back.
func (l *limiter) leave() { l.busy.Add(-1) }

func (l *limiter) adapt(delay time.Duration) {
	now := l.limit.Load()
	if delay > longDelay {
		l.limit.Store(max(now*4/5, l.most/8, 1))
		return
	}
	l.limit.Store(min(now+max(l.most/16, 1), l.most))
}

// schedulerDelay returns a function that returns the 90th percentile of the time
// that goroutines have waited for a processor since its last call, from the
// runtime's histogram.
func schedulerDelay() func() time.Duration {
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
