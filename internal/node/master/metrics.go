package master

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/fault"
	"adshard/internal/node/fanout"
	"adshard/internal/node/metrics"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/traffic"
	"adshard/schema/pb"
	"adshard/search"
)

// Metrics observes the requests of a master (searchapi.Observer) and its calls to shards
// (fanout.Observer).
type Metrics struct {
	expand, fanout, merge, finish, whole prometheus.Observer
	outcomes                             *prometheus.CounterVec
	overloads, retries, expanded, kept   prometheus.Counter
	shards                               *prometheus.HistogramVec
	failures, missing                    *prometheus.CounterVec
	hedges, hedgesWon, elsewhere, noMore *prometheus.CounterVec
	leftOut                              *prometheus.GaugeVec
	untargeted                           *prometheus.CounterVec
	work                                 metrics.Work
	traffic                              traffic.Counter
}

// NewMetrics registers a master's metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	s := metrics.NewStages(r)
	m := &Metrics{
		expand: s.Of("expand"), fanout: s.Of("fan-out"), merge: s.Of("merge"), finish: s.Of("finish"), whole: s.Of("request"),
		outcomes: metrics.Counters("adshard_answers_total",
			"Requests by operation, HTTP status and outcome: complete, incomplete, or the error's kind.",
			"operation", "status", "outcome"),
		overloads: metrics.Counter("adshard_overloads_total", "Requests and searches rejected as overload."),
		retries:   metrics.Counter("adshard_stale_views_total", "Searches sent to all shards again with a newer map."),
		expanded:  metrics.Counter("adshard_expansions_total", "Queries expanded, those included whose expansion was kept."),
		kept:      metrics.Counter("adshard_expansions_kept_total", "Queries whose expansion was kept from an earlier request."),
		shards: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "adshard_shard_seconds", Help: "Time of calls to the replicas of a shard.", Buckets: metrics.StageBuckets}, []string{"shard", "replica"}),
		failures:  metrics.Counters("adshard_shard_failures_total", "Calls that a replica did not answer, by kind of error.", "shard", "replica", "kind"),
		hedges:    metrics.Counters("adshard_hedges_total", "Calls to a second replica since the first took long.", "shard"),
		hedgesWon: metrics.Counters("adshard_hedges_won_total", "Of these, those that answered first.", "shard"),
		elsewhere: metrics.Counters("adshard_asked_elsewhere_total", "Calls to another replica in place of one that did not serve.", "shard"),
		noMore: metrics.Counters("adshard_budget_used_up_total", "Searches that no further replica was asked for, as there were too many such calls, by budget: hedge or again.",
			"shard", "budget"),
		missing: metrics.Counters("adshard_missing_total", "Answers that lack a shard or a part of it, by reason.", "shard", "reason"),
		leftOut: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "adshard_replica_left_out", Help: "1: the replica is left out: it has stopped answering (silent), or its calls fail (ejected)."},
			[]string{"shard", "replica", "why"}),
		untargeted: metrics.Counters("adshard_keywords_left_out_total",
			"Matching keywords that targeting or a block of the page left out, by verdict, of answers without ads to requests with why_empty.", "verdict"),
		work: metrics.NewWork(r),
	}
	for v := search.NotStarted; v <= search.Blocked; v++ {
		m.untargeted.WithLabelValues(v.String()) // so that rates start from 0
	}
	r.MustRegister(m.outcomes, m.overloads, m.retries, m.expanded, m.kept, m.shards, m.failures, m.missing,
		m.hedges, m.hedgesWon, m.elsewhere, m.noMore, m.leftOut, m.untargeted)
	return m
}

// Observe implements searchapi.Observer.
func (m *Metrics) Observe(o *searchapi.Observation) {
	metrics.Observe(m.whole, o.Took, o.TraceID)
	metrics.Observe(m.expand, o.Expand, o.TraceID)
	metrics.Observe(m.fanout, o.Search, o.TraceID)
	metrics.Observe(m.finish, o.Finish, o.TraceID)
	if o.Answer != nil {
		m.work.Add(o.Answer.Work)
	}
	if o.Why != nil {
		m.untarget(o.Why)
	}
	if o.Expand > 0 {
		m.expanded.Inc()
	}
	if o.Kept {
		m.kept.Inc()
	}
	if fault.Is(o.Err, fault.Overloaded) {
		m.overloads.Inc()
	}
	m.outcomes.WithLabelValues(o.Operation, strconv.Itoa(o.Status), o.Outcome()).Inc()
	if o.Operation == searchapi.OperationSearch {
		m.traffic.Count(o.Took, o.Complete(), o.Err)
	}
}

// untarget counts the verdicts of targeting and blocks.
func (m *Metrics) untarget(counts *[search.Verdicts]uint64) {
	for i, n := range counts {
		if v := search.Verdict(i); n > 0 && v.OfTargeting() {
			m.untargeted.WithLabelValues(v.String()).Add(float64(n))
		}
	}
}

// Traffic returns the counts that are reported to the balancer.
func (m *Metrics) Traffic() *pb.Traffic { return m.traffic.Message() }

// Called implements fanout.Observer.
func (m *Metrics) Called(shard, replica string, took time.Duration, err error) {
	m.shards.WithLabelValues(shard, replica).Observe(took.Seconds())
	if err != nil {
		m.failures.WithLabelValues(shard, replica, fault.KindOf(err).String()).Inc()
	}
}

// Merged implements fanout.Observer.
func (m *Metrics) Merged(took time.Duration) { metrics.Observe(m.merge, took, "") }

// Missing implements fanout.Observer.
func (m *Metrics) Missing(name string, why search.Reason) {
	m.missing.WithLabelValues(name, why.String()).Inc()
}

// LeftOut implements fanout.Observer.
func (m *Metrics) LeftOut(shard, replica string, why fanout.Absence) {
	for _, a := range []fanout.Absence{fanout.Silent, fanout.Ejected} {
		v := 0.0
		if a == why {
			v = 1
		}
		m.leftOut.WithLabelValues(shard, replica, string(a)).Set(v)
	}
}

// Hedged implements fanout.Observer.
func (m *Metrics) Hedged(shard string) { m.hedges.WithLabelValues(shard).Inc() }

// HedgeWon implements fanout.Observer.
func (m *Metrics) HedgeWon(shard string) { m.hedgesWon.WithLabelValues(shard).Inc() }

// AskedElsewhere implements fanout.Observer.
func (m *Metrics) AskedElsewhere(shard string) { m.elsewhere.WithLabelValues(shard).Inc() }

// BudgetUsedUp implements fanout.Observer.
func (m *Metrics) BudgetUsedUp(shard, budget string) {
	m.noMore.WithLabelValues(shard, budget).Inc()
}

// Retried implements fanout.Observer.
func (m *Metrics) Retried() { m.retries.Inc() }
