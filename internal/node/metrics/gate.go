package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/overload"
)

// WatchGate registers metrics of a gate for searches (overload.Gate).
func WatchGate(r prometheus.Registerer, g interface{ State() overload.State }) {
	Gauge(r, "adshard_search_slots", "How many searches may run at once.",
		func() float64 { return float64(g.State().Slots) })
	Gauge(r, "adshard_searches_running", "Searches that run.", func() float64 { return float64(g.State().Running) })
	Gauge(r, "adshard_searches_waiting", "Searches that wait for a slot.", func() float64 { return float64(g.State().Waiting) })
}
