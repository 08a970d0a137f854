package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Histogram is a Prometheus histogram: for each bound, in rising order, how many
// observations were at most that bound. The last bound is infinite.
type Histogram struct {
	bounds []float64 // seconds
	counts []float64 // cumulative
}

// SearchTimes reads the histogram of a slave's search times.
func (c *Cluster) SearchTimes(ctx context.Context, slave int) (Histogram, error) {
	raw, err := fetch(ctx, http.MethodGet, c.Slaves[slave]+"/metrics", nil)
	if err != nil {
		return Histogram{}, err
	}
	return parseHistogram(string(raw), "adshard_stage_seconds", `stage="slave search"`), nil
}

// SearchSeconds reads the total time of a slave's searches, in seconds.
func (c *Cluster) SearchSeconds(ctx context.Context, slave int) (float64, error) {
	raw, err := fetch(ctx, http.MethodGet, c.Slaves[slave]+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	const name, label = "adshard_stage_seconds_sum{", `stage="slave search"`
	for line := range strings.SplitSeq(string(raw), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok && strings.Contains(rest, label) {
			_, value, _ := strings.Cut(rest, "} ")
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, nil // it has not searched yet
}

// Gauge reads a metric without labels from an admin port.
func Gauge(ctx context.Context, admin, name string) (float64, error) {
	raw, err := fetch(ctx, http.MethodGet, admin+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	return parseGauge(string(raw), name)
}

func parseGauge(text, name string) (float64, error) {
	for line := range strings.SplitSeq(text, "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// parseHistogram reads the series with a label from metrics in the text format.
func parseHistogram(text, name, label string) Histogram {
	type bucket struct{ bound, count float64 }
	var list []bucket
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := strings.CutPrefix(line, name+"_bucket{")
		if !ok || !strings.Contains(rest, label) {
			continue
		}
		_, after, _ := strings.Cut(rest, `le="`)
		bound, after, _ := strings.Cut(after, `"`)
		at := strings.LastIndexByte(after, ' ')
		b, err := strconv.ParseFloat(bound, 64) // parses "+Inf" too
		n, err2 := strconv.ParseFloat(after[at+1:], 64)
		if err == nil && err2 == nil {
			list = append(list, bucket{b, n})
		}
	}
	slices.SortFunc(list, func(a, b bucket) int { return cmp.Compare(a.bound, b.bound) })
	var h Histogram
	for _, b := range list {
		h.bounds, h.counts = append(h.bounds, b.bound), append(h.counts, b.count)
	}
	return h
}

// Since returns the observations made after an earlier reading.
func (h Histogram) Since(before Histogram) Histogram {
	if len(before.counts) != len(h.counts) {
		return h
	}
	out := Histogram{bounds: h.bounds, counts: slices.Clone(h.counts)}
	for i, n := range before.counts {
		out.counts[i] -= n
	}
	return out
}

// Count returns the number of observations.
func (h Histogram) Count() float64 {
	if len(h.counts) == 0 {
		return 0
	}
	return h.counts[len(h.counts)-1]
}

// Quantile estimates a quantile in seconds as Prometheus does: evenly within a
// bucket. It returns 0 if there are no observations.
func (h Histogram) Quantile(q float64) float64 {
	want, below, from := q*h.Count(), 0.0, 0.0
	for i, n := range h.counts {
		if n > 0 && n >= want {
			if i == len(h.bounds)-1 {
				return from // the last bucket has no upper bound
			}
			return from + (h.bounds[i]-from)*(want-below)/max(n-below, 1e-12)
		}
		below, from = n, h.bounds[i]
	}
	return 0
}

// Sum reads a metric with labels from an admin port: the sum of all its series, or 0
// if there is none.
func Sum(ctx context.Context, admin, name string) (sum float64, err error) {
	raw, err := fetch(ctx, http.MethodGet, admin+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if rest, ok := strings.CutPrefix(line, name+"{"); ok {
			n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}
