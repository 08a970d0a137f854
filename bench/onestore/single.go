package onestore

import (
	"context"

	"adshard/bench/measure"
)

// Single asks every distinct query at most once: the first half to warm up, then
// the second half as a separate round. It must come before any other round of
// the store, so that nothing that the store keeps of a query helps when the same
// query comes again. It returns nil if there are fewer than two distinct
// queries.
func (p *Plan) Single(ctx context.Context) (*Round, error) {
	seen := make(map[string]bool)
	var different []string
	for _, text := range p.Queries {
		if !seen[text] {
			seen[text] = true
			different = append(different, text)
		}
	}
	if len(different) < 2 {
		return nil, nil
	}
	half := *p
	half.Queries = different[:len(different)/2]
	if _, err := half.Round(ctx); err != nil {
		return nil, err
	}
	half.Queries = different[len(different)/2:]
	return half.Round(ctx)
}

// SingleFigures adds the results of such a round, or a note if r is nil.
func SingleFigures(report *measure.Report, r *Round) {
	if r == nil || r.Asked == 0 {
		report.Note("no single pass: there are fewer than two different queries")
		return
	}
	for _, l := range latencies {
		switch l.name {
		case "search median", "search p99", "both median", "both p99":
			report.Add("single pass, "+l.name, "µs", l.value(r).Seconds()*1e6)
		}
	}
	report.Note("single pass: %d queries, none asked twice, after as many others", r.Asked)
}
