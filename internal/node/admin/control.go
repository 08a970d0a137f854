package admin

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Control has the control calls of a balancer. Errors: fault.NotFound for a slice, slave or
// strategy that does not exist, with the nearest names or how to list them; fault.Conflict, with
// the reason, if the present state does not allow the call.
type Control interface {
	// SetBudget marks a campaign's budget durably, and returns a position in the log of changes
	// that includes the mark. Errors: fault.NotFound.
	SetBudget(ctx context.Context, campaign uint64, m backend.BudgetMark) (search.Position, error)
	// SlavesList lists the slaves, by name.
	SlavesList(ctx context.Context) (*api.SlaveList, error)
	// AddSlave adds the slave at an address (HOST:PORT) to the cluster, or takes back
	// one that is draining or drained.
	AddSlave(ctx context.Context, address string) (*api.SlaveChange, error)
	// DrainSlave starts to empty a slave.
	DrainSlave(ctx context.Context, name string) (*api.SlaveChange, error)
	// RemoveSlave removes a slave that is gone for good. Errors: fault.Conflict while the slave is
	// alive or has slices.
	RemoveSlave(ctx context.Context, name string) (*api.SlaveRemoved, error)
	// BalanceStatus returns the state of balancing.
	BalanceStatus(ctx context.Context) (*api.BalanceStatus, error)
	// BalanceSlices lists slices, those with the highest load first.
	BalanceSlices(ctx context.Context, p api.BalanceSlicesParams) (*api.SliceList, error)
	// BalancePlan returns what the strategy would do now.
	BalancePlan(ctx context.Context) (*api.BalancePlan, error)
	// BalanceHistory returns what was seen over the last 24 hours.
	BalanceHistory(ctx context.Context) (*api.BalanceHistory, error)
	// BalanceWhy explains why a slice is where it is.
	BalanceWhy(ctx context.Context, slice uint64) (*api.SliceStory, error)
	// BalanceMove starts a move.
	BalanceMove(ctx context.Context, slice uint64, slave string) (*api.SliceMove, error)
	// BalanceStrategies lists the strategies, by name.
	BalanceStrategies(ctx context.Context) (*api.StrategyList, error)
	// BalanceStrategy changes the strategy; options that are not given get their defaults.
	BalanceStrategy(ctx context.Context, name string, options map[string]string) (*api.StrategyInUse, error)
	// BalanceReplicas sets how many slaves hold each slice.
	BalanceReplicas(ctx context.Context, replicas int) error
	// BalancePause pauses or resumes the iterations of the strategy.
	BalancePause(ctx context.Context, paused bool) error
}

const (
	controlTimeout = 10 * time.Second
	bodyTimeout    = 2 * time.Second
)

// calls has the handlers of one path, by method.
type calls map[string]http.HandlerFunc

// control returns the calls of a balancer.
func (c *Config) control() map[string]calls {
	all := map[string]calls{
		budgetPath:                 {http.MethodPost: c.budget},
		"/v1/slaves":               {http.MethodGet: get(c, Control.SlavesList), http.MethodPost: c.addSlave},
		"/v1/slaves/{name}/drain":  {http.MethodPost: c.drainSlave},
		"/v1/slaves/{name}/remove": {http.MethodPost: c.removeSlave},
		"/v1/balance":              {http.MethodGet: get(c, Control.BalanceStatus)},
		"/v1/balance/slices":       {http.MethodGet: c.slices},
		"/v1/balance/plan":         {http.MethodGet: get(c, Control.BalancePlan)},
		"/v1/balance/history":      {http.MethodGet: get(c, Control.BalanceHistory)},
		"/v1/balance/why/{slice}":  {http.MethodGet: c.why},
		"/v1/balance/move":         {http.MethodPost: c.move},
		"/v1/balance/strategies":   {http.MethodGet: get(c, Control.BalanceStrategies)},
		"/v1/balance/strategy":     {http.MethodPost: c.strategy},
		"/v1/balance/replicas":     {http.MethodPost: c.replicas},
		"/v1/balance/pause":        {http.MethodPost: c.pause(true)},
		"/v1/balance/resume":       {http.MethodPost: c.pause(false)},
	}
	for path, methods := range all {
		for method, h := range methods {
			methods[method] = func(w http.ResponseWriter, r *http.Request) {
				if err := c.refuse(path); err != nil {
					httpapi.WriteError(w, err)
					return
				}
				h(w, r)
			}
		}
	}
	return all
}

// budgetPath is the path of the calls that mark budgets.
const budgetPath = "/v1/campaigns/{id}/budget"

// refuse returns why calls of a path are refused, or nil if they are not.
func (c *Config) refuse(path string) error {
	if c.Refuse == nil || path == budgetPath {
		return nil
	}
	return c.Refuse()
}

// method returns the method of a request as the table of calls names it: a HEAD is a GET without a
// body.
func method(r *http.Request) string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}

// ServeHTTP implements http.Handler.
func (m calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := m[method(r)]; h != nil {
		h(w, r)
		return
	}
	httpapi.RefuseMethod(w, r, strings.Join(slices.Sorted(maps.Keys(m)), ", "))
}

// get returns a handler that answers with the result of a call without parameters.
func get[T any](c *Config, ask func(Control, context.Context) (*T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := noInput(r); err != nil {
			httpapi.WriteError(w, err)
			return
		}
		answer(c, w, r, func(ctx context.Context) (*T, error) { return ask(c.Control, ctx) })
	}
}

// noInput returns an error for parameters and bodies that would be ignored.
func noInput(r *http.Request) error {
	if err := api.FromQuery(api.None{}, r.URL.RawQuery); err != nil {
		return err
	}
	if r.ContentLength != 0 {
		return fault.Field("admin", "", "%s %s has no body", r.Method, r.URL.Path)
	}
	return nil
}

// answer makes the call within its time limit and writes the result.
func answer[T any](c *Config, w http.ResponseWriter, r *http.Request, ask func(context.Context) (*T, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	v, err := ask(ctx)
	who := access.CallerOf(ctx).String()
	if err != nil {
		if r.Method == http.MethodPost || httpapi.Status(err) >= http.StatusInternalServerError {
			c.Log.Warn("an admin call failed", "method", r.Method, "path", r.URL.Path, "by", who, "from", r.RemoteAddr, "err", err)
		}
		httpapi.WriteError(w, err)
		return
	}
	if r.Method == http.MethodPost {
		text, _ := json.Marshal(v) // in the form of the answer
		c.Log.Info("changed through the admin port", "path", r.URL.Path, "by", who, "from", r.RemoteAddr, "answer", json.RawMessage(text))
	}
	httpapi.WriteJSON(w, http.StatusOK, v)
}

// number reads a number of at least 1 from the path.
func number(r *http.Request, name, what string) (uint64, error) {
	text := r.PathValue(name)
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return 0, fault.Field("admin", name, "%q is not a valid %s: give a number from 1", text, what)
	}
	return n, nil
}
