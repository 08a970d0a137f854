package openloop

import "adshard/bench/measure"

// Figures adds the results of a run to a report.
func (o *Outcome) Figures(report *measure.Report) {
	report.AddSpread("latency ", o.Latency.Spread())
	seconds := max(o.Took.Seconds(), 1e-9)
	report.Add("answers per second", "/s", float64(o.Answered())/seconds)
	for _, f := range []struct {
		name string
		n    int
	}{
		{"complete", o.Complete}, {"incomplete", o.Incomplete}, {"overloaded (503)", o.Overloaded},
		{"refused (400)", o.Refused}, {"failed", o.Failed}, {"due and not sent", o.Unsent},
	} {
		report.Add(f.name, "requests", float64(f.n))
	}
	answered := float64(max(1, o.Answered()))
	report.Add("ads", "per answer", float64(o.Ads)/answered)
	report.Add("answers with ads", "share", float64(o.WithAds)/answered)
	report.Add("answer", "bytes", float64(o.Bytes)/answered)
	if o.Held {
		report.Add("ads missed", "", float64(o.Wrong.Missed))
		report.Add("ads too many", "", float64(o.Wrong.Extra))
		report.Add("ads with another price", "", float64(o.Wrong.Mispriced))
	}
	report.Add("sent late, median", "µs", o.Lag.Spread().Median)
	report.Add("sent late, p99", "µs", o.Lag.Spread().P99)
	report.Add("processor used by the load generator", "cores", o.CPU.Seconds()/seconds)
	if o.ServerCPU > 0 {
		report.Add("processor used by the cluster", "cores", o.ServerCPU.Seconds()/seconds)
		report.Add("processor time of the cluster", "µs per answer", o.ServerCPU.Seconds()*1e6/answered)
	}
	if o.FirstError != nil {
		report.Note("first failure: %v", o.FirstError)
	}
}
