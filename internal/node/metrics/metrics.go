// Package metrics makes what processes show to Prometheus: their registry, and the parts that
// masters, slaves and collectors have in common. What only one role has is in that role's package.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"adshard/internal/version"
	"adshard/search"
)

// NewRegistry returns a registry with what Go and the process say of
// themselves, and which build the program is.
func NewRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(version.Current()))
	return r
}

// buildInfo is always 1: what there is to know is in its labels.
func buildInfo(b version.Build) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "adshard_build_info", Help: "1; which build the program is.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go_version": b.Go},
	})
	info.Set(1)
	return info
}

// StageBuckets go from 10 µs to 5 s, in seconds.
var StageBuckets = []float64{10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3,
	0.1, 0.25, 0.5, 1, 2.5, 5}

// Stages are the times of one request's parts, by the name of the stage.
type Stages struct{ by *prometheus.HistogramVec }

// NewStages registers them.
func NewStages(r prometheus.Registerer) Stages {
	s := Stages{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "adshard_stage_seconds", Help: "Time of the parts of a search, by stage.", Buckets: StageBuckets,
	}, []string{"stage"})}
	r.MustRegister(s.by)
	return s
}

// Of returns the times of a stage.
func (s Stages) Of(stage string) prometheus.Observer { return s.by.WithLabelValues(stage) }

// Observe notes how long something took, with the id of its trace if there is one; 0 is not noted.
func Observe(o prometheus.Observer, d time.Duration, trace string) {
	switch {
	case d <= 0:
	case trace == "":
		o.Observe(d.Seconds())
	default:
		o.(prometheus.ExemplarObserver).ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": trace})
	}
}

// Work counts what searches cost.
type Work struct{ examined, read, skipped, bad, early prometheus.Counter }

// NewWork registers the counts.
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

// Add adds what one search cost.
func (w *Work) Add(n search.Work) {
	w.examined.Add(float64(n.Examined))
	w.read.Add(float64(n.BlocksRead))
	w.skipped.Add(float64(n.BlocksSkipped))
	w.bad.Add(float64(n.BlocksBad))
	if n.BlocksSkipped > 0 {
		w.early.Inc()
	}
}

// Counter makes a counter; it is not registered.
func Counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// Counters makes counters by labels; they are not registered.
func Counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Gauge registers a value that is read when metrics are asked for.
func Gauge(r prometheus.Registerer, name, help string, read func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Count registers a count that is read when metrics are asked for; its name
// ends with _total.
func Count(r prometheus.Registerer, name, help string, read func() float64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}
