package grid

import (
	"adshard/bench/measure"
)

// Name returns the name of a figure of a report. The way of asking is "alone",
// "closed" or "open". The quantity is "answers" (per second); "master", "slaves" or
// "generator" (µs of processor time per answer); "median", "p90", "p99", "p99.9" or
// "mean" (latencies in µs); or "not complete" (requests).
func Name(g Grid, way, quantity string) string { return g.String() + " " + way + ": " + quantity }

// quantities lists the figures of one way of asking.
var quantities = []struct {
	name, unit string
	of         func(*turn) float64
}{
	{"answers", "/s", func(t *turn) float64 { return float64(t.Complete) / t.Took.Seconds() }},
	{"median", "µs", func(t *turn) float64 { return t.Latency.Spread().Median }},
	{"p90", "µs", func(t *turn) float64 { return t.Latency.Spread().P90 }},
	{"p99", "µs", func(t *turn) float64 { return t.Latency.Spread().P99 }},
	{"p99.9", "µs", func(t *turn) float64 { return t.Latency.Spread().P999 }},
	{"mean", "µs", func(t *turn) float64 { return t.Latency.Spread().Mean }},
	{"master", "µs per answer", func(t *turn) float64 { return t.master }},
	{"slaves", "µs per answer", func(t *turn) float64 { return t.slaves }},
	{"generator", "µs per answer", func(t *turn) float64 { return t.generator }},
	{"not complete", "requests", func(t *turn) float64 { return float64(t.Sent() - t.Complete + t.Unsent) }},
}

// figures adds the results of the turns.
func (r *running) figures(report *measure.Report) {
	for _, way := range ways {
		for _, q := range quantities {
			values := make([]float64, len(r.turns[way]))
			for i, t := range r.turns[way] {
				values[i] = q.of(t)
			}
			report.AddRounds(Name(r.grid, way, q.name), q.unit, values)
		}
	}
}
