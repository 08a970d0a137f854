package slave

import (
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/node/metrics"
	"adshard/loadproxy"
	"adshard/search"
)

// Metrics observes a slave's searches (shardserver.Observer).
type Metrics struct {
	search    prometheus.Observer
	outcomes  *prometheus.CounterVec
	overloads prometheus.Counter
	panics    prometheus.Counter
	work      metrics.Work
	log       *slog.Logger
}

// NewMetrics registers the metrics of a slave: of its searches, its store and its proxy.
func NewMetrics(r prometheus.Registerer, store barrels.Store, state func() loadproxy.State, log *slog.Logger) *Metrics {
	m := &Metrics{
		search:    metrics.NewStages(r).Of("slave search"),
		outcomes:  metrics.Counters("adshard_slave_searches_total", "Searches by outcome: answered, or the error's kind.", "outcome"),
		overloads: metrics.Counter("adshard_overloads_total", "Requests and searches rejected as overload."),
		panics:    metrics.Counter("adshard_panics_total", "Searches that panicked."),
		work:      metrics.NewWork(r),
		log:       log,
	}
	r.MustRegister(m.outcomes, m.overloads, m.panics)
	r.MustRegister(newStoreMetrics(store.Stats))
	metrics.Gauge(r, "adshard_applied_clock", "The newest change applied.",
		func() float64 { return float64(store.Position().GetClock()) })
	metrics.Gauge(r, "adshard_caught_up", "1: the slave has all its data.",
		func() float64 { return truth(state().CaughtUp) })
	metrics.Gauge(r, "adshard_in_trouble", "1: the slave makes no progress.",
		func() float64 { return truth(state().Trouble != "") })
	metrics.Gauge(r, "adshard_in_repair", "1: some data is not served, because it is damaged or missing.",
		func() float64 { return truth(state().Repair != "") })
	metrics.Count(r, "adshard_repairs_total", "Repairs begun: slices, or the whole store, discarded and refilled.",
		func() float64 { return float64(state().Repairs) })
	metrics.Count(r, "adshard_memory_differences_total", "Cached values that differed from the store and were dropped.",
		func() float64 { return float64(state().Memory) })
	metrics.Count(r, "adshard_buckets_applied_total", "Buckets of node data applied.",
		func() float64 { return float64(state().Buckets) })
	metrics.Count(r, "adshard_items_applied_total", "Groups written or deleted.",
		func() float64 { return float64(state().Items) })
	return m
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Searched implements shardserver.Observer.
func (m *Metrics) Searched(took time.Duration, trace string, a *search.Answer, err error) {
	if err != nil {
		if fault.Is(err, fault.Overloaded) {
			m.overloads.Inc()
		}
		m.outcomes.WithLabelValues(fault.KindOf(err).String()).Inc()
		return
	}
	metrics.Observe(m.search, max(took, 1), trace)
	m.outcomes.WithLabelValues("answered").Inc()
	m.work.Add(a.Work)
}

// Panicked implements shardserver.Observer.
func (m *Metrics) Panicked(cause any) {
	m.panics.Inc()
	m.log.Error("a search panicked", "cause", cause, "stack", string(debug.Stack()))
}
