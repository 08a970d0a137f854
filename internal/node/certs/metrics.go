package certs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers the metrics of a process.
func (c *Credentials) Register(r prometheus.Registerer) {
	if c == nil {
		return
	}
	count := func(name, help string, labels prometheus.Labels, n interface{ Load() uint64 }) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(n.Load()) }))
	}
	count("adshard_calls_refused_total", "Calls that the caller may not make.", nil, &c.counts.refused)
	if c.own == nil {
		return
	}
	const opened, help = "adshard_connections_opened_total", "Connections that peers and admins have opened, by how."
	count(opened, help, prometheus.Labels{"tls": "yes"}, &c.counts.secure)
	count(opened, help, prometheus.Labels{"tls": "no"}, &c.counts.plain)
	count(opened, help, prometheus.Labels{"tls": "failed"}, &c.counts.failed)
	registerLeft(r, "peers", c.own)
}

// Register registers the metrics of the ports for queries.
func (q *Queries) Register(r prometheus.Registerer) {
	if q != nil {
		registerLeft(r, "queries", q.side.own)
	}
}

// registerLeft registers the metric of the time left until the certificate of a port expires.
func registerLeft(r prometheus.Registerer, port string, own *watched[material]) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "adshard_certificate_left_seconds",
		Help: "Seconds until the certificate expires.", ConstLabels: prometheus.Labels{"port": port}},
		func() float64 { return time.Until(own.get().leaf.NotAfter).Seconds() }))
}

// Scheme returns the scheme of the admin port's URLs.
func (c *Credentials) Scheme() string {
	if c == nil || c.own == nil {
		return "http"
	}
	return "https"
}
