package freshness

import (
	"time"

	"adshard/bench/measure"
)

// Figures adds the results of a course, which `what` names, to a report.
func (r *Reaction) Figures(report *measure.Report, what string) {
	report.Add(what+": changes", "", float64(r.Ages.Count()))
	for _, q := range []struct {
		name  string
		share float64
	}{{"median", 0.5}, {"p99", 0.99}, {"max", 1}} {
		report.Add(what+": age when first shown, "+q.name, "ms", millis(r.Ages.Quantile(q.share)))
	}
	report.AddRounds(what+": a campaign is new after", "ms", all(r.Wholes))
	report.AddRounds(what+": answers mix its old and new groups for", "ms", all(r.Mixed))
	report.Add(what+": answers", "", float64(r.Answers))
	report.Add(what+": answers without an ad", "", float64(r.Absent))
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func all(list []time.Duration) (out []float64) {
	for _, d := range list {
		out = append(out, millis(d))
	}
	return out
}
