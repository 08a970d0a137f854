package certs_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
)

// TestExpiryIsAnnounced: a metric shows when certificates of both kinds of ports expire, and a warning
// is logged in the last quarter of their life.
func TestExpiryIsAnnounced(t *testing.T) {
	ca := certtest.New(t)
	for life, warns := range map[time.Duration]bool{time.Hour: false, 10 * time.Minute: true} {
		pair := ca.Pair(access.Master, "m", life)
		files := certs.TLS{Mode: certs.Required, CA: ca.CA(), Cert: ca.Write("m.crt", pair.Cert), Key: ca.Write("m.key", pair.Key)}
		var shown bytes.Buffer
		log := slog.New(slog.NewTextHandler(&shown, nil))
		own, err := (&certs.Settings{TLS: files}).Open(access.Master, "m", log)
		if err != nil {
			t.Fatal(err)
		}
		queries, err := (&certs.QueryTLS{Mode: certs.Required, Cert: files.Cert, Key: files.Key}).Open(log)
		if err != nil {
			t.Fatal(err)
		}
		registry := prometheus.NewRegistry()
		own.Register(registry)
		queries.Register(registry)
		left := gauges(t, registry, "adshard_certificate_left_seconds")
		for _, port := range []string{"peers", "queries"} {
			if s, ok := left[port]; !ok || s <= 0 || s > life.Seconds() {
				t.Errorf("%v: %q has %g s left (%t)", life, port, s, ok)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for port, run := range map[string]func(context.Context){"peers": own.Run, "queries": queries.Run} {
			shown.Reset()
			if run(ended); strings.Contains(shown.String(), "expires soon") != warns {
				t.Errorf("%v: the log of %s has %q", life, port, shown.String())
			}
		}
	}
}

// gauges returns the values of a metric by port.
func gauges(t *testing.T, registry *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "port" {
					values[l.GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
	}
	return values
}
