package openloop

import (
	"slices"
	"sync"
	"time"
)

// Interval is the result of the requests that were due in one second.
type Interval struct {
	// At is the end of the interval, relative to the start of the measured time.
	At                           time.Duration
	Answers, Incomplete, Failed  int // Failed: all without an answer with status 200
	InTime, Overloaded           int // parts of Answers and of Failed
	Wrong                        Wrong
	Median, P90, P99, P999, Most time.Duration
}

// second is the length of an interval.
const second = time.Second

// timeline keeps all latencies by interval, exactly, with 4 bytes per request.
type timeline struct {
	mu   sync.Mutex // guards list
	list []moment
}

type moment struct {
	micros             []float32
	incomplete, failed int
	inTime, overloaded int
	wrong              Wrong
}

// add counts a request that was due at a time after the start. A negative took
// means that it has no answer.
func (t *timeline) add(due, took time.Duration, whole, inTime, overloaded bool, w Wrong) {
	i := int(due / second)
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.list) <= i {
		t.list = append(t.list, moment{})
	}
	m := &t.list[i]
	m.wrong.add(w)
	if inTime {
		m.inTime++
	}
	if overloaded {
		m.overloaded++
	}
	switch {
	case took < 0:
		m.failed++
		return
	case !whole:
		m.incomplete++
	}
	m.micros = append(m.micros, float32(took.Seconds()*1e6))
}

// intervals returns the sums of the timeline by interval.
func (t *timeline) intervals() []Interval {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Interval, len(t.list))
	for i := range t.list {
		m := &t.list[i]
		slices.Sort(m.micros)
		out[i] = Interval{
			At: time.Duration(i+1) * second, Answers: len(m.micros), Incomplete: m.incomplete, Failed: m.failed, Wrong: m.wrong,
			InTime: m.inTime, Overloaded: m.overloaded,
			Median: m.quantile(0.5), P90: m.quantile(0.9), P99: m.quantile(0.99), P999: m.quantile(0.999), Most: m.quantile(1),
		}
	}
	return out
}

// quantile returns a quantile of the sorted latencies, or 0 if there are none.
func (m *moment) quantile(q float64) time.Duration {
	n := len(m.micros)
	if n == 0 {
		return 0
	}
	i := min(int(q*float64(n)), n-1)
	return time.Duration(float64(m.micros[i]) * float64(time.Microsecond))
}
