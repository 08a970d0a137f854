package onestore

import (
	"time"

	"adshard/bench/measure"
)

// One is the cost of one query.
type One struct {
	Took              time.Duration
	Examined, Matched uint64
}

// Fit adds the fixed cost of a search, its cost for each posting examined, and
// its additional cost for each match: least squares over the queries, each
// with its fastest round. Matches are complete only with exact counts.
func Fit(report *measure.Report, rounds []*Round) {
	var s measure.Linear
	for i, one := range rounds[0].Each {
		best := one.Took
		for _, r := range rounds[1:] {
			best = min(best, r.Each[i].Took)
		}
		s.Add([3]float64{1, float64(one.Examined), float64(one.Matched)}, best.Seconds()*1e6)
	}
	x, ok := s.Solve()
	if !ok {
		report.Note("the queries are too few or too much alike to separate the costs")
		return
	}
	report.Add("cost of a search by itself", "µs", x[0])
	report.Add("cost of a posting examined", "ns", x[1]*1e3)
	report.Add("cost of a match besides", "ns", x[2]*1e3)
}
