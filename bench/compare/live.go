package compare

import (
	"fmt"
	"time"

	"adshard/bench/openloop"
)

// targets makes the request targets of the queries that the run asks, and a
// function that says when each is asked. It leaves out queries that a cluster
// would refuse.
func (l *live) targets() (list []openloop.Target, when func(func(time.Duration, int) bool)) {
	const unseen, refused = -1, -2
	number := make([]int, len(l.w.Queries))
	for i := range number {
		number[i] = unseen
	}
	for _, q := range l.w.Events(l.o.Rate, l.o.Duration) {
		if number[q] != unseen {
			continue
		}
		number[q] = refused
		if target, ok := openloop.Search(l.w.Queries[q], nil); ok {
			number[q] = len(list)
			list = append(list, target)
		}
	}
	return list, func(yield func(time.Duration, int) bool) {
		for at, q := range l.w.Events(l.o.Rate, l.o.Duration) {
			if number[q] >= 0 && !yield(at, number[q]) {
				return
			}
		}
	}
}

// figures combines what the load generator measured with what was watched.
func (l *live) figures(o *openloop.Outcome) {
	seen := &observed{slaves: l.watch.names, shifts: l.o.shifts(l.w)}
	for _, s := range l.watch.samples {
		if i := int(s.At+0.5) - 1; i >= 0 && i < len(o.Intervals) {
			v := &o.Intervals[i]
			s.P50, s.P99 = millis(v.Median), millis(v.P99)
			s.Queries, s.Incomplete = v.Answers, v.Incomplete
		}
		seen.add(s)
	}
	r := &l.run
	seen.balance(r)
	l.watch.moved(r)
	seen.latencies(r)
	r.Add("p50 at the master, all", "ms", millis(o.Latency.Quantile(0.5)))
	r.Add("p99 at the master, all", "ms", millis(o.Latency.Quantile(0.99)))
	r.Add("answers", "", float64(o.Answered()))
	r.Add("incomplete answers", "", float64(o.Incomplete))
	r.Add("failed or refused", "", float64(o.Failed+o.Overloaded+o.Refused+o.Unsent))
	r.Add("ads missed", "", float64(o.Wrong.Missed))
	r.Add("ads too many", "", float64(o.Wrong.Extra))
	r.Add("ads with another price", "", float64(o.Wrong.Mispriced))
	r.Add("first fill", "s", l.cluster.Filled.Seconds())
	r.Add("processor used by the cluster", "cores", o.ServerCPU.Seconds()/max(o.Took.Seconds(), 1e-9))
	l.memory(l.cluster.Memory())
	seen.series(r)
	for _, name := range l.cluster.Ended() {
		r.Notes = append(r.Notes, fmt.Sprintf("%s ended by itself", name))
	}
	if o.FirstError != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("first failure: %v", o.FirstError))
	}
}
