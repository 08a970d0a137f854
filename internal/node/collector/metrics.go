package collector

import (
	"github.com/prometheus/client_golang/prometheus"

	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
)

// metrics are a collector's.
type metrics struct {
	events  map[store.Kind][events.Outcomes]prometheus.Counter
	refused *prometheus.CounterVec
	seconds prometheus.Histogram
	failed  prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adshard_events_total",
		Help: "Events of batches that were answered, by kind and outcome."}, []string{"kind", "outcome"})
	m := &metrics{
		events: make(map[store.Kind][events.Outcomes]prometheus.Counter),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adshard_event_batches_refused_total",
			Help: "Batches that were refused whole, by kind of error."}, []string{"kind"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "adshard_event_batch_seconds",
			Help: "Time of batches that were answered.", Buckets: prometheus.ExponentialBuckets(0.5e-3, 2, 14)}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "adshard_budget_checks_failed_total",
			Help: "Looks at budgets that failed."}),
	}
	for kind, name := range map[store.Kind]string{store.Impression: "impression", store.Click: "click"} {
		var by [events.Outcomes]prometheus.Counter
		for o := range events.Outcomes {
			by[o] = outcomes.WithLabelValues(name, o.String())
		}
		m.events[kind] = by
	}
	r.MustRegister(outcomes, m.refused, m.seconds, m.failed)
	return m
}

func (m *metrics) count(kind store.Kind, o events.Outcome) { m.events[kind][o].Inc() }

func (m *metrics) refusedBatch(err error) {
	m.refused.WithLabelValues(fault.KindOf(err).String()).Inc()
}
