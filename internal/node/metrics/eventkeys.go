package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"adshard/events/token"
)

// The values of the label "of" of adshard_event_key.
const (
	KeysOfMaster    = "master"
	KeysOfCollector = "collector"
)

// eventKeys collects which keys of event tokens a process has.
type eventKeys struct {
	desc *prometheus.Desc
	ring func() *token.Ring
}

// WatchEventKeys registers a metric of the keys of event tokens that a process has. Their names reveal nothing about
// the keys. A collector that has no key in common with the masters takes all events for forgeries.
func WatchEventKeys(r prometheus.Registerer, of string, ring func() *token.Ring) {
	r.MustRegister(eventKeys{prometheus.NewDesc("adshard_event_key", "1; which keys of event tokens a master or a collector has.",
		[]string{"key"}, prometheus.Labels{"of": of}), ring})
}

// Describe implements prometheus.Collector.
func (k eventKeys) Describe(c chan<- *prometheus.Desc) { c <- k.desc }

// Collect implements prometheus.Collector.
func (k eventKeys) Collect(c chan<- prometheus.Metric) {
	for _, id := range k.ring().IDs() {
		c <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, 1, id)
	}
}
