package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies from 1 ns to 10 minutes are kept to three significant digits.
const (
	shortest = time.Nanosecond
	longest  = 10 * time.Minute
	digits   = 3
)

// Latencies counts durations in an HdrHistogram. It must not be used
// concurrently.
type Latencies struct {
	histogram *hdrhistogram.Histogram
	sum       time.Duration
	max       time.Duration
}

// NewLatencies returns an empty histogram.
func NewLatencies() *Latencies {
	return &Latencies{histogram: hdrhistogram.New(int64(shortest), int64(longest), digits)}
}

// Add counts one duration; durations over ten minutes count as ten minutes.
func (l *Latencies) Add(d time.Duration) {
	d = max(0, min(d, longest))
	_ = l.histogram.RecordValue(int64(d)) // within its range
	l.sum += d
	l.max = max(l.max, d)
}

// Merge adds all durations that other has counted.
func (l *Latencies) Merge(other *Latencies) {
	l.histogram.Merge(other.histogram)
	l.sum += other.sum
	l.max = max(l.max, other.max)
}

// Count returns the number of durations.
func (l *Latencies) Count() int64 { return l.histogram.TotalCount() }

// Quantile returns the duration that a share q (0 to 1) of the durations does
// not exceed, or 0 if there are none.
func (l *Latencies) Quantile(q float64) time.Duration {
	return min(l.max, time.Duration(l.histogram.ValueAtQuantile(100*q)))
}

// Spread is a summary of durations, in microseconds.
type Spread struct {
	Count  int64   `json:"count"`
	Mean   float64 `json:"mean_us"`
	Median float64 `json:"median_us"`
	P90    float64 `json:"p90_us"`
	P99    float64 `json:"p99_us"`
	P999   float64 `json:"p99_9_us"`
	Max    float64 `json:"max_us"`
}

// Spread returns a summary of the durations.
func (l *Latencies) Spread() Spread {
	s := Spread{
		Count: l.Count(), Median: micros(l.Quantile(0.5)), P90: micros(l.Quantile(0.9)),
		P99: micros(l.Quantile(0.99)), P999: micros(l.Quantile(0.999)), Max: micros(l.max),
	}
	if s.Count > 0 {
		s.Mean = micros(l.sum) / float64(s.Count)
	}
	return s
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
