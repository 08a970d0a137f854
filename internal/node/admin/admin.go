package admin

import (
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adshard/internal/node/httpapi"
)

// Config is what an admin port serves.
type Config struct {
	// Registry holds the process's metrics.
	Registry *prometheus.Registry
	// Ready returns why the process cannot do its work; empty: it can.
	Ready func() []string
	// Control is the balancer's; nil: its calls are not there.
	Control Control
	// Explain answers /v1/explain; nil: it is not there.
	Explain http.Handler
	// Hosts are names by which the port may be called, beside localhost,
	// loopback addresses and the one that a connection came to; a port in them
	// does not count.
	Hosts []string
	Log   *slog.Logger
}

// New returns the handler of an admin port. Run it with httpapi.Serve, which
// has all timeouts.
func New(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", c.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(c.Registry, promhttp.HandlerOpts{Registry: c.Registry}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(httpapi.Spec)
	})
	if c.Control != nil {
		c.control(mux)
	}
	if c.Explain != nil {
		mux.Handle("/v1/explain", c.Explain)
	}
	return c.guarded(http.MaxBytesHandler(mux, httpapi.MaxBody))
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

func (c *Config) readyz(w http.ResponseWriter, _ *http.Request) {
	if why := c.Ready(); len(why) > 0 {
		plain(w, http.StatusServiceUnavailable, "not ready: "+strings.Join(why, "; "))
		return
	}
	plain(w, http.StatusOK, "ready")
}
