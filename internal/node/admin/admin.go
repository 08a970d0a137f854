package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

// Control is what a balancer can be told and asked.
type Control interface {
	// SetBudget marks a campaign's budget, durably; fault.NotFound.
	SetBudget(ctx context.Context, campaign uint64, exhausted bool) error
	// SlavesList lists the slaves, by name.
	SlavesList(ctx context.Context) (*api.SlaveList, error)
}

// Config is what an admin port serves.
type Config struct {
	// Registry holds the process's metrics.
	Registry *prometheus.Registry
	// Ready returns why the process cannot do its work; empty: it can.
	Ready func() []string
	// Control is the balancer's; nil: its calls are not there.
	Control Control
	Log     *slog.Logger
}

const (
	controlTimeout = 10 * time.Second
	bodyTimeout    = 2 * time.Second
)

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
		mux.HandleFunc("POST /v1/campaigns/{id}/budget", c.budget)
		mux.HandleFunc("GET /v1/slaves", c.slaves)
	}
	limited := http.MaxBytesHandler(mux, httpapi.MaxBody)
	return http.NewCrossOriginProtection().Handler(limited)
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

func (c *Config) budget(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil || id == 0 {
		httpapi.WriteError(w, fault.Field("admin: budget", "id", "%q is no campaign's id: a number from 1", r.PathValue("id")))
		return
	}
	var body budgetBody
	if err := httpapi.ReadBody(w, r, bodyTimeout, &body); err != nil {
		httpapi.WriteError(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	if err := c.Control.SetBudget(ctx, id, body.Exhausted); err != nil {
		c.failed(w, "budget", err)
		return
	}
	c.Log.Info("budget marked", "campaign", id, "exhausted", body.Exhausted)
	httpapi.WriteJSON(w, http.StatusOK, &api.BudgetAnswer{CampaignID: id, Exhausted: body.Exhausted})
}

func (c *Config) slaves(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	list, err := c.Control.SlavesList(ctx)
	if err != nil {
		c.failed(w, "slaves", err)
		return
	}
	httpapi.WriteJSON(w, http.StatusOK, list)
}

func (c *Config) failed(w http.ResponseWriter, call string, err error) {
	if httpapi.Status(err) >= http.StatusInternalServerError {
		c.Log.Warn("an admin call failed", "call", call, "err", err)
	}
	httpapi.WriteError(w, err)
}

// budgetBody reads api.Budget strictly.
type budgetBody struct{ api.Budget }

// Set implements api.Params.
func (b *budgetBody) Set(name string, v api.Value) (field int, err error) {
	if name != "exhausted" {
		return 0, api.Unknown(name)
	}
	b.Exhausted, err = v.Boolean(name)
	return 0, err
}

// Required implements api.Params.
func (b *budgetBody) Required(given uint64) string {
	if given&1 == 0 {
		return "exhausted"
	}
	return ""
}
