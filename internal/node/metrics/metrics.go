// Package metrics makes the metrics that processes show to Prometheus: their registry, and the
// metrics that masters, slaves and collectors have in common. Metrics of a single role are in that
// role's package.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"adshard/internal/version"
	"adshard/search"
)

// NewRegistry returns a registry with metrics of Go, of the process and of the program's build.
func NewRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(version.Current()))
	return r
}

// buildInfo returns a metric that is always 1; its labels describe the build.
func buildInfo(b version.Build) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "adshard_build_info", Help: "1; which build the program is.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go_version": b.Go},
	})
	info.Set(1)
	return info
}

// StageBuckets are the bounds of histograms, in seconds, from 10 µs to 5 s.
var StageBuckets = []float64{10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3,
	0.1, 0.25, 0.5, 1, 2.5, 5}

// Stages holds histograms of the times of a request's parts, by the name of the stage.
type Stages struct{ by *prometheus.HistogramVec }

// NewStages registers the histograms.
func NewStages(r prometheus.Registerer) Stages {
	s := Stages{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "adshard_stage_seconds", Help: "Time of the parts of a search, by stage.", Buckets: StageBuckets,
	}, []string{"stage"})}
	r.MustRegister(s.by)
	return s
}

// Of returns the histogram of a stage.
func (s Stages) Of(stage string) prometheus.Observer { return s.by.WithLabelValues(stage) }

// Observe records a duration, with the id of its trace if there is one. It ignores durations that
// are not positive.
func Observe(o prometheus.Observer, d time.Duration, trace string) {
	switch {
	case d <= 0:
	case trace == "":
		o.Observe(d.Seconds())
	default:
		o.(prometheus.ExemplarObserver).ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": trace})
	}
}

// Work counts the work of searches.
type Work struct{ examined, read, skipped, bad, early prometheus.Counter }

// NewWork registers the counters.
func NewWork(r prometheus.Registerer) Work {
	w := Work{
		examined: Counter("adshard_postings_examined_total", "Postings examined."),
		read:     Counter("adshard_blocks_read_total", "Blocks of keywords read."),
		skipped:  Counter("adshard_blocks_skipped_total", "Blocks skipped: none of their postings can match, or none could win."),
		bad:      Counter("adshard_blocks_bad_total", "Damaged blocks met."),
		early:    Counter("adshard_early_ends_total", "Searches that skipped some blocks."),
	}
	r.MustRegister(w.examined, w.read, w.skipped, w.bad, w.early)
	return w
}

// Add adds the work of one search.
func (w *Work) Add(n search.Work) {
	w.examined.Add(float64(n.Examined))
	w.read.Add(float64(n.BlocksRead))
	w.skipped.Add(float64(n.BlocksSkipped))
	w.bad.Add(float64(n.BlocksBad))
	if n.BlocksSkipped > 0 {
		w.early.Inc()
	}
}

// Counter returns a counter that is not registered.
func Counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// Counters returns counters by labels that are not registered.
func Counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Gauge registers a gauge that calls `read` whenever metrics are collected.
func Gauge(r prometheus.Registerer, name, help string, read func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Count registers a counter that calls `read` whenever metrics are collected. Its name must end in
// _total.
func Count(r prometheus.Registerer, name, help string, read func() float64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}
