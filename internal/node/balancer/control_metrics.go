package balancer

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/balance/mapper"
	"adshard/internal/node/httpapi/api"
)

// balancerMetrics makes metrics from the admin port's status whenever they are collected.
type balancerMetrics struct {
	leads  func() (bool, time.Time)            // since when, if it does
	status func() (*api.BalanceStatus, counts) // the status is nil if another balancer leads
	differ func() []difference                 // the settings of a balancer that stands by
	of     []metric
}

var (
	leadsDesc  = prometheus.NewDesc("adshard_balancer_leads", "1: it leads; 0: another balancer of its cluster does.", nil, nil)
	sinceDesc  = prometheus.NewDesc("adshard_balancer_leads_since_seconds", "When it began to lead, in seconds since 1970.", nil, nil)
	differDesc = prometheus.NewDesc("adshard_balancer_setting_differs", "1: it stands by, and has another value of a setting than the balancer that leads.",
		[]string{"setting", "own", "leads"}, nil)
)

// counts holds the values that appear only in metrics.
type counts = mapper.Status

// metric is the description of one name and the function that makes its series.
type metric struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	series func(s *api.BalanceStatus, c counts, put func(v float64, labels ...string))
}

// RegisterMetrics registers the metrics of the running balancer.
func RegisterMetrics(r prometheus.Registerer, h *Host) {
	leads := func() (bool, time.Time) {
		b, err := h.at()
		if err != nil {
			return false, time.Time{}
		}
		return true, b.loaded
	}
	m := &balancerMetrics{leads: leads, status: func() (*api.BalanceStatus, counts) {
		b := h.last.Load()
		if b == nil {
			return nil, counts{}
		}
		s, _ := adminControl{b}.BalanceStatus(context.Background()) // never fails
		b.mu.Lock()
		defer b.mu.Unlock()
		return s, b.mapper.Status(b.now())
	}}
	m.differ = func() []difference {
		if s := h.standby.Load(); s != nil && s.differ.Load() != nil {
			return *s.differ.Load()
		}
		return nil
	}
	m.addWhole()
	m.addSlaves()
	m.addMoves()
	r.MustRegister(m)
}

// Describe implements prometheus.Collector.
func (m *balancerMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- leadsDesc
	out <- sinceDesc
	out <- differDesc
	for _, v := range m.of {
		out <- v.desc
	}
}

// Collect implements prometheus.Collector.
func (m *balancerMetrics) Collect(out chan<- prometheus.Metric) {
	leads := 0.0
	if yes, since := m.leads(); yes {
		leads = 1
		out <- prometheus.MustNewConstMetric(sinceDesc, prometheus.GaugeValue, float64(since.UnixMilli())/1000)
	}
	out <- prometheus.MustNewConstMetric(leadsDesc, prometheus.GaugeValue, leads)
	for _, d := range m.differ() {
		out <- prometheus.MustNewConstMetric(differDesc, prometheus.GaugeValue, 1, d.key, d.own, d.leads)
	}
	s, c := m.status()
	if s == nil {
		return
	}
	for _, v := range m.of {
		v.series(s, c, func(x float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(v.desc, v.kind, x, labels...)
		})
	}
}

func (m *balancerMetrics) add(kind prometheus.ValueType, name, help string, labels []string,
	series func(s *api.BalanceStatus, c counts, put func(v float64, labels ...string)),
) {
	m.of = append(m.of, metric{prometheus.NewDesc("adshard_balancer_"+name, help, labels, nil), kind, series})
}

func (m *balancerMetrics) gauge(name, help string, of func(*api.BalanceStatus) float64) {
	m.add(prometheus.GaugeValue, name, help, nil, func(s *api.BalanceStatus, _ counts, put func(float64, ...string)) { put(of(s)) })
}

func (m *balancerMetrics) addWhole() {
	m.gauge("epoch", "The balancer's epoch.", func(s *api.BalanceStatus) float64 { return float64(s.Epoch) })
	m.gauge("view", "The newest state of the slice map.", func(s *api.BalanceStatus) float64 { return float64(s.View) })
	m.gauge("published_view", "The state of the slice map that masters get.", func(s *api.BalanceStatus) float64 { return float64(s.PublishedView) })
	m.gauge("clock", "The newest change of the database.", func(s *api.BalanceStatus) float64 { return float64(s.Clock) })
	m.gauge("items", "Ad groups of the database.", func(s *api.BalanceStatus) float64 { return float64(s.Items) })
	m.gauge("slices", "Slices of the ring.", func(s *api.BalanceStatus) float64 { return float64(s.Slices) })
	m.gauge("max_over_mean", "Load of the most loaded slave over the mean.", func(s *api.BalanceStatus) float64 { return s.MaxOverMean })
	m.gauge("lower_bound", "The max/mean that no placement can beat.", func(s *api.BalanceStatus) float64 { return s.LowerBound })
	m.gauge("idle", "1: queries have stopped; all loads are 0 and max/mean is 1.", func(s *api.BalanceStatus) float64 {
		if s.Idle {
			return 1
		}
		return 0
	})
	m.add(prometheus.GaugeValue, "load_known", "1: enough queries were counted to judge the slaves' load by; 0: nothing is moved because of it.", nil,
		func(_ *api.BalanceStatus, c counts, put func(float64, ...string)) {
			if c.Measured && c.Few == "" {
				put(1)
			} else {
				put(0)
			}
		})
	m.gauge("paused", "1: balancing is paused.", func(s *api.BalanceStatus) float64 {
		if s.Paused {
			return 1
		}
		return 0
	})
}

func (m *balancerMetrics) addSlaves() {
	bySlave := func(name, help string, of func(*api.SlaveLoad) float64) {
		m.add(prometheus.GaugeValue, name, help, []string{"slave"}, func(s *api.BalanceStatus, _ counts, put func(float64, ...string)) {
			for i := range s.Slaves {
				put(of(&s.Slaves[i]), s.Slaves[i].Name)
			}
		})
	}
	bySlave("slave_load", "Load per second; the items' weight while none is measured.", func(n *api.SlaveLoad) float64 { return n.Load })
	bySlave("slave_over_mean", "Load over the mean, each divided by the slave's share.", func(n *api.SlaveLoad) float64 { return n.OverMean })
	bySlave("slave_slices", "Slices served.", func(n *api.SlaveLoad) float64 { return float64(n.Slices) })
	m.add(prometheus.GaugeValue, "slaves", "Slaves by state.", []string{"state"}, func(s *api.BalanceStatus, _ counts, put func(float64, ...string)) {
		n := map[api.SlaveState]int{}
		for i := range s.Slaves {
			n[s.Slaves[i].State]++
		}
		for _, state := range []api.SlaveState{api.SlaveStateActive, api.SlaveStateDraining, api.SlaveStateDrained} {
			put(float64(n[state]), string(state))
		}
	})
}

func (m *balancerMetrics) addMoves() {
	m.gauge("moves_in_flight", "Slices being moved.", func(s *api.BalanceStatus) float64 { return float64(len(s.MovesInFlight)) })
	total := func(name, help string, of func(*api.BalanceStatus, counts) uint64) {
		m.add(prometheus.CounterValue, name, help, nil, func(s *api.BalanceStatus, c counts, put func(float64, ...string)) { put(float64(of(s, c))) })
	}
	total("moved_items_total", "Ad groups that changed their slave.", func(s *api.BalanceStatus, _ counts) uint64 { return s.Moved.Items })
	total("moved_bytes_total", "Bytes that changed their slave.", func(s *api.BalanceStatus, _ counts) uint64 { return s.Moved.Bytes })
	total("refusals_total", "Proposals of the strategy that the balancer rejected.", func(_ *api.BalanceStatus, c counts) uint64 { return c.Refused })
	m.add(prometheus.CounterValue, "moves_total", "Moves by outcome.", []string{"outcome"},
		func(s *api.BalanceStatus, _ counts, put func(float64, ...string)) {
			put(float64(s.Moved.Moves), "switched")
			put(float64(s.Moved.Cancelled), "cancelled")
		})
	m.add(prometheus.CounterValue, "certificates_total", "Comparisons of copies by outcome.", []string{"outcome"},
		func(_ *api.BalanceStatus, c counts, put func(float64, ...string)) {
			put(float64(c.Certificates.Equal), "equal")
			put(float64(c.Certificates.Different), "different")
			put(float64(c.Certificates.Again), "again")
		})
	total("scrub_passes_total", "Completed passes that compare what slaves serve with the database.", func(s *api.BalanceStatus, _ counts) uint64 { return s.Scrub.Passes })
	total("scrub_differences_total", "Parts of slices served that differed.", func(s *api.BalanceStatus, _ counts) uint64 { return s.Scrub.Differences })
	m.gauge("scrub_progress", "How much of the pass under way is done, 0 to 1.", func(s *api.BalanceStatus) float64 { return s.Scrub.Progress })
	m.gauge("condemned_slices", "Slices that slaves have yet to discard.", func(s *api.BalanceStatus) float64 { return float64(len(s.Scrub.Condemned)) })
	m.add(prometheus.CounterValue, "loads_ignored_total", "Load reports, or parts of them, that were ignored; `adshard balance status --json` shows why.", nil,
		func(s *api.BalanceStatus, _ counts, put func(float64, ...string)) {
			var sum uint64
			for _, n := range s.IgnoredLoads {
				sum += uint64(n)
			}
			put(float64(sum))
		})
}
