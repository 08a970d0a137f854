package load

import (
	"slices"
	"time"
)

// The bounds of plausible reports: a machine of 1,024 cores, 10¹² counts per second,
// intervals of an hour.
const (
	maxCores          = 1024
	maxCounts         = 1e12
	maxReportInterval = time.Hour
	// maxPast is the number of earlier incarnations of a slave that are remembered.
	maxPast = 8
)

// absurd reports whether a report is implausible.
func absurd(r *Report) bool {
	if r.Interval <= 0 || r.Interval > maxReportInterval {
		return true
	}
	seconds := r.Interval.Seconds()
	var sum float64
	beyond := func(c Cost) bool {
		return float64(c.Micros) > seconds*1e6*maxCores ||
			float64(c.Examined) > seconds*maxCounts || float64(c.Matched) > seconds*maxCounts
	}
	for _, c := range r.Slices {
		sum += float64(c.Micros)
		if beyond(c.Cost) {
			return true
		}
	}
	return sum > seconds*1e6*maxCores || float64(r.Queries) > seconds*maxCounts ||
		slices.ContainsFunc(r.Items, func(c ItemCost) bool { return beyond(c.Cost) }) ||
		slices.ContainsFunc(r.Topics, func(c TopicCost) bool { return beyond(c.Cost) }) ||
		slices.ContainsFunc(r.Pairs, func(c PairCost) bool { return beyond(c.Cost) })
}

// follows records a report and returns "" if it is newer than the previous one.
// Otherwise it returns what is wrong with the report. Reports in between may have been
// lost.
func (n *reports) follows(r *Report) string {
	switch {
	case r.Incarnation != n.incarnation || n.number == 0:
		if slices.Contains(n.past, r.Incarnation) {
			return "late"
		}
		if n.number > 0 {
			n.past = append(n.past, n.incarnation)
			n.past = n.past[max(0, len(n.past)-maxPast):]
		}
		n.incarnation = r.Incarnation
	case r.Number == n.number:
		return "doubled"
	case r.Number < n.number:
		return "late"
	}
	n.number = r.Number
	return ""
}
