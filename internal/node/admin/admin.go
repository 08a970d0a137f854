package admin

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adshard/internal/node/access"
	"adshard/internal/node/console"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/metrics"
	"adshard/places"
)

// Config says what an admin port serves.
type Config struct {
	// Registry holds the process's metrics.
	Registry *prometheus.Registry
	// Ready returns why the process cannot do its work, or an empty list if it can.
	Ready func() []string
	// Control has the balancer's control calls; if it is nil, the port has none of them.
	Control Control
	// Refuse returns why all calls of Control except SetBudget are refused. They are not refused if
	// Refuse is nil or returns nil.
	Refuse func() error
	// Data reads and changes the data of the database; if it is nil, the port has no calls for
	// data.
	Data *data.Service
	// Places returns the table of places. If it is nil, Data's table is used; if Data is nil too,
	// there is none.
	Places func(context.Context) (*places.Table, error)
	// Explain answers /v1/explain, and /v1/search for the console; if it is nil, the port has
	// neither.
	Explain http.Handler
	// Slow answers /debug/slow with the slowest searches; if it is nil, the port does not have
	// /debug/slow.
	Slow http.Handler
	// Hosts are names by which the port may be called.
	Hosts httpapi.Names
	// Gate checks who may send a request; nil allows everyone.
	Gate *access.Gate
	// Currency is the currency that the console writes beside amounts, or "".
	Currency string
	// Memory is the memory of the console. If it is nil, the console's memory ends with this
	// handler.
	Memory *console.Memory
	Log    *slog.Logger
}

// New returns the handler of an admin port. Run it with httpapi.Serve, which sets all timeouts.
func New(c Config) http.Handler {
	if c.Places == nil && c.Data != nil {
		c.Places = c.Data.Places
	}
	mux := http.NewServeMux()
	inner := limited(found(mux))
	pages := c.console(c.gated(mux, inner, nil))
	for path, methods := range c.routes() {
		mux.Handle(path, methods)
	}
	if pages != nil {
		for path, methods := range pages.Routes() {
			mux.Handle(path, calls(methods))
		}
	}
	return c.guarded(c.gated(mux, inner, pages))
}

// found answers requests for unknown paths in the form of all other errors.
func found(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			httpapi.RefusePath(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// console returns the pages of the port, which send their requests to `api`, or nil if the port has
// no pages.
func (c *Config) console(api http.Handler) *console.Console {
	if c.Control == nil && c.Explain == nil {
		return nil
	}
	if c.Memory == nil {
		c.Memory = new(console.Memory)
	}
	return console.New(console.Config{API: api, Gate: c.Gate, Memory: c.Memory, Currency: c.Currency, Balancer: c.Control != nil, Data: c.Data != nil, Search: c.Explain})
}

// routes returns what the port serves, by path and method.
func (c *Config) routes() map[string]calls {
	get := func(h http.HandlerFunc) calls { return calls{http.MethodGet: h} }
	all := map[string]calls{
		"/livez":               get(func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") }),
		"/readyz":              get(c.readyz),
		"/metrics":             get(promhttp.HandlerFor(c.Registry, promhttp.HandlerOpts{Registry: c.Registry, EnableOpenMetrics: true}).ServeHTTP),
		"/debug/pprof/":        get(pprof.Index),
		"/debug/pprof/cmdline": get(pprof.Cmdline),
		"/debug/pprof/profile": get(pprof.Profile),
		"/debug/pprof/symbol":  get(pprof.Symbol),
		"/debug/pprof/trace":   get(pprof.Trace),
		"/openapi.yaml": get(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/yaml")
			_, _ = w.Write(httpapi.Spec)
		}),
	}
	if c.Control != nil {
		maps.Copy(all, c.control())
	}
	if c.Data != nil {
		maps.Copy(all, c.data())
	}
	if c.Places != nil {
		all[locationsPath] = get(c.locations)
	}
	if c.Explain != nil {
		all["/v1/explain"] = get(c.Explain.ServeHTTP)
	}
	if c.Slow != nil {
		all["/debug/slow"] = get(c.Slow.ServeHTTP)
	}
	return all
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

// Routes returns the methods of an admin port that serves everything, by pattern.
func Routes() map[string][]string {
	c := Config{Registry: metrics.NewRegistry(), Control: unasked{}, Data: &data.Service{}, Places: new(data.Service).Places, Explain: http.NotFoundHandler(), Slow: http.NotFoundHandler()}
	all := make(map[string][]string)
	for pattern, methods := range c.routes() {
		all[pattern] = slices.Sorted(maps.Keys(methods))
	}
	for pattern, methods := range c.console(nil).Routes() {
		all[pattern] = slices.Sorted(maps.Keys(methods))
	}
	return all
}

// unasked is a Control whose methods are never called.
type unasked struct{ Control }
