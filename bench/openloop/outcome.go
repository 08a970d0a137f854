package openloop

import (
	"bytes"
	"net/http"
	"time"

	"adshard/bench/measure"
)

// Outcome is the result of a run: what happened to its requests.
type Outcome struct {
	// Latency is the time from when a request was meant to be sent to the end of its
	// answer, for answers with status 200 only. Lag is the time until an answered or
	// refused request was sent.
	Latency, Lag *measure.Latencies
	// Refusal is the time from when a request was sent to the end of its answer with
	// status 503.
	Refusal *measure.Latencies
	// InTime counts complete answers within Config.InTime.
	InTime int
	// Complete and Incomplete count answers with status 200, Overloaded 503, Refused
	// 400; Failed counts other statuses and broken or refused connections. Unsent
	// requests were due but could not be sent before the end of the run.
	Complete, Incomplete, Overloaded, Refused, Failed, Unsent int
	// Ads is the number of ads in all answers with status 200, WithAds the number of
	// answers with ads, Bytes the total size of the bodies.
	Ads, WithAds, Bytes int
	// Wrong says how complete answers differ from Config.Reference. Held is set if
	// there was a reference.
	Wrong Wrong
	Held  bool
	// Late is how late this process read what had arrived: answers seem to take longer
	// by this time. It is measured only in runs at a rate.
	Late *measure.Latencies
	// Intervals holds the results by the second in which requests were due.
	Intervals []Interval
	// FirstError is the first failure.
	FirstError error
	// Took is the measured time, CPU the processor time of this process in it,
	// ServerCPU that of Config.Processes, and ServerCPUs that of each of them.
	Took, CPU, ServerCPU time.Duration
	ServerCPUs           []time.Duration
}

func newOutcome() *Outcome {
	return &Outcome{Latency: measure.NewLatencies(), Lag: measure.NewLatencies(), Refusal: measure.NewLatencies(), Late: measure.NewLatencies()}
}

// Answered returns the number of answers with status 200.
func (o *Outcome) Answered() int { return o.Complete + o.Incomplete }

// Sent returns the number of requests that were sent.
func (o *Outcome) Sent() int {
	return o.Answered() + o.Overloaded + o.Refused + o.Failed
}

// count counts a request that has just ended, and compares its answer with the
// reference.
func (o *Outcome) count(c *Config, line *timeline, target int, from time.Time, status int, body []byte, err error, meant, sent time.Time) {
	end := time.Now()
	o.add(status, body, err, meant, sent, end)
	var wrong Wrong
	took, whole := time.Duration(-1), false
	if err == nil && status == http.StatusOK {
		took, whole = end.Sub(meant), complete(body)
	}
	if whole && c.Reference != nil {
		wrong = compare(c.Reference[target], adsOf(body))
		o.Wrong.add(wrong)
	}
	inTime := whole && (c.InTime == 0 || took <= c.InTime)
	if inTime {
		o.InTime++
	}
	line.add(meant.Sub(from), took, whole, inTime, err == nil && status == http.StatusServiceUnavailable, wrong)
}

// add counts one request.
func (o *Outcome) add(status int, body []byte, err error, meant, sent, end time.Time) {
	switch {
	case err != nil || status != http.StatusOK && status != http.StatusServiceUnavailable && status != http.StatusBadRequest:
		o.Failed++
		if o.FirstError == nil {
			o.FirstError = failure(status, err)
		}
		return
	case status == http.StatusServiceUnavailable:
		o.Overloaded++
		o.Refusal.Add(end.Sub(sent))
		o.Lag.Add(sent.Sub(meant))
		return
	case status == http.StatusBadRequest:
		o.Refused++
		return
	}
	if complete(body) {
		o.Complete++
	} else {
		o.Incomplete++
	}
	ads := bytes.Count(body, []byte(`"ad_id":`))
	if o.Ads += ads; ads > 0 {
		o.WithAds++
	}
	o.Bytes += len(body)
	o.Latency.Add(end.Sub(meant))
	o.Lag.Add(sent.Sub(meant))
}

// merge adds the counts of other.
func (o *Outcome) merge(other *Outcome) {
	o.Latency.Merge(other.Latency)
	o.Lag.Merge(other.Lag)
	o.Refusal.Merge(other.Refusal)
	o.InTime += other.InTime
	o.Complete += other.Complete
	o.Incomplete += other.Incomplete
	o.Overloaded += other.Overloaded
	o.Refused += other.Refused
	o.Failed += other.Failed
	o.Ads += other.Ads
	o.WithAds += other.WithAds
	o.Bytes += other.Bytes
	o.Wrong.add(other.Wrong)
	if o.FirstError == nil {
		o.FirstError = other.FirstError
	}
}
