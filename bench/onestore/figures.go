package onestore

import (
	"time"

	"adshard/bench/measure"
)

// Figures adds the results of the rounds to a report; there must be at least
// one round.
func Figures(report *measure.Report, rounds []*Round) {
	each := func(name, unit string, value func(*Round) float64) {
		values := make([]float64, len(rounds))
		for i, r := range rounds {
			values[i] = value(r)
		}
		report.AddRounds(name, unit, values)
	}
	for _, l := range latencies {
		each(l.name, "µs", func(r *Round) float64 { return l.value(r).Seconds() * 1e6 })
	}
	each("queries per second", "/s", func(r *Round) float64 { return float64(r.Asked) / r.Took.Seconds() })
	perQuery := func(name, unit string, value func(*Round) float64) {
		each(name, unit, func(r *Round) float64 { return value(r) / float64(max(1, r.Asked)) })
	}
	perQuery("processor time, both", "µs per query", func(r *Round) float64 { return r.CPU.Seconds() * 1e6 })
	perQuery("postings examined", "per query", func(r *Round) float64 { return float64(r.Work.Examined) })
	perQuery("blocks read", "per query", func(r *Round) float64 { return float64(r.Work.BlocksRead) })
	perQuery("blocks skipped", "per query", func(r *Round) float64 { return float64(r.Work.BlocksSkipped) })
	perQuery("hits", "per query", func(r *Round) float64 { return float64(r.Hits) })
	perQuery("queries with ads", "share", func(r *Round) float64 { return float64(r.WithHits) })
	perQuery("allocations", "per query", func(r *Round) float64 { return float64(r.Allocations) })
	perQuery("allocated", "bytes per query", func(r *Round) float64 { return float64(r.Bytes) })
	notes(report, rounds[0])
}

// latencies lists the times that a report shows.
var latencies = []struct {
	name  string
	value func(*Round) time.Duration
}{
	{"search median", func(r *Round) time.Duration { return r.Search.Quantile(0.5) }},
	{"search p90", func(r *Round) time.Duration { return r.Search.Quantile(0.9) }},
	{"search p99", func(r *Round) time.Duration { return r.Search.Quantile(0.99) }},
	{"search p99.9", func(r *Round) time.Duration { return r.Search.Quantile(0.999) }},
	{"search max", func(r *Round) time.Duration { return r.Search.Quantile(1) }},
	{"expansion median", func(r *Round) time.Duration { return r.Expand.Quantile(0.5) }},
	{"expansion p99", func(r *Round) time.Duration { return r.Expand.Quantile(0.99) }},
	{"both median", func(r *Round) time.Duration { return r.Total.Quantile(0.5) }},
	{"both p99", func(r *Round) time.Duration { return r.Total.Quantile(0.99) }},
}

// notes adds what limits the meaning of the figures.
func notes(report *measure.Report, r *Round) {
	report.Note("%d queries a round, %d refused as no queries", r.Asked, r.Refused)
	if r.Partial > 0 {
		report.Note("careful: %d answers did not cover the whole ring; build the store with --slaves 1", r.Partial)
	}
	if r.Work.BlocksBad > 0 {
		report.Note("careful: %d damaged blocks were met", r.Work.BlocksBad)
	}
}
