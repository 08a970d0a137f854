package collector

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
)

// eventMetrics are the metrics of a collector.
type eventMetrics struct {
	events  map[store.Kind][events.Outcomes]prometheus.Counter
	refused *prometheus.CounterVec
	seconds prometheus.Histogram
	failed  prometheus.Counter
}

func newEventMetrics(r prometheus.Registerer) *eventMetrics {
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adshard_events_total",
		Help: "Events of batches that were answered, by kind and outcome."}, []string{"kind", "outcome"})
	m := &eventMetrics{
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

func (m *eventMetrics) count(kind store.Kind, o events.Outcome) { m.events[kind][o].Inc() }

func (m *eventMetrics) refusedBatch(err error) {
	m.refused.WithLabelValues(fault.KindOf(err).String()).Inc()
}

// learningMetrics are the metrics of a collector that learns.
type learningMetrics struct {
	rounds  *prometheus.CounterVec
	changed prometheus.Counter
	last    prometheus.Gauge
}

// The outcomes of rounds.
const (
	roundLearned   = "learned"
	roundOvertaken = "overtaken"
	roundFailed    = "failed"
)

func newLearningMetrics(r prometheus.Registerer) *learningMetrics {
	m := &learningMetrics{
		rounds: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "adshard_learning_rounds_total",
			Help: "Rounds in which this collector learned qualities, by outcome."}, []string{"outcome"}),
		changed: prometheus.NewCounter(prometheus.CounterOpts{Name: "adshard_learning_keywords_changed_total",
			Help: "Keywords whose learned quality was changed or taken back."}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{Name: "adshard_learning_last_round_timestamp_seconds",
			Help: "When the last round began that this collector brought to its end; 0: none since it started."}),
	}
	for _, outcome := range []string{roundLearned, roundOvertaken, roundFailed} {
		m.rounds.WithLabelValues(outcome)
	}
	r.MustRegister(m.rounds, m.changed, m.last)
	return m
}

// round counts a round that began at the time `began`.
func (m *learningMetrics) round(began time.Time, did pass, err error) {
	m.changed.Add(float64(did.written))
	outcome := roundLearned
	switch {
	case fault.Is(err, fault.Conflict):
		outcome = roundOvertaken
	case err != nil:
		outcome = roundFailed
	default:
		m.last.Set(float64(began.Unix()))
	}
	m.rounds.WithLabelValues(outcome).Inc()
}
