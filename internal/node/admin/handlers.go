package admin

import (
	"context"
	"net/http"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

func (c *Config) budget(w http.ResponseWriter, r *http.Request) {
	id, err := number(r, "id", "campaign's id")
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	var body budgetBody
	if !read(w, r, &body) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.BudgetAnswer, error) {
		at, err := c.Control.SetBudget(ctx, id, body.mark())
		return &api.BudgetAnswer{CampaignID: id, Exhausted: body.Exhausted, SharePpm: body.SharePpm, MinClock: at.String()}, err
	})
}

func (c *Config) addSlave(w http.ResponseWriter, r *http.Request) {
	var body addBody
	if !read(w, r, &body) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.SlaveChange, error) { return c.Control.AddSlave(ctx, body.Address) })
}

func (c *Config) drainSlave(w http.ResponseWriter, r *http.Request) {
	if !silent(w, r) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.SlaveChange, error) {
		return c.Control.DrainSlave(ctx, r.PathValue("name"))
	})
}

func (c *Config) removeSlave(w http.ResponseWriter, r *http.Request) {
	if !silent(w, r) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.SlaveRemoved, error) {
		return c.Control.RemoveSlave(ctx, r.PathValue("name"))
	})
}

func (c *Config) slices(w http.ResponseWriter, r *http.Request) {
	p := slicesQuery{api.BalanceSlicesParams{Limit: defaultSlices}}
	if err := api.FromQuery(&p, r.URL.RawQuery); err != nil {
		httpapi.WriteError(w, err)
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.SliceList, error) {
		return c.Control.BalanceSlices(ctx, p.BalanceSlicesParams)
	})
}

func (c *Config) why(w http.ResponseWriter, r *http.Request) {
	slice, err := number(r, "slice", "slice")
	if err == nil {
		err = noInput(r)
	}
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.SliceStory, error) { return c.Control.BalanceWhy(ctx, slice) })
}

func (c *Config) move(w http.ResponseWriter, r *http.Request) {
	var body moveBody
	if !read(w, r, &body) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.SliceMove, error) {
		return c.Control.BalanceMove(ctx, body.Slice, body.Slave)
	})
}

func (c *Config) strategy(w http.ResponseWriter, r *http.Request) {
	var body strategyBody
	if !read(w, r, &body) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.StrategyInUse, error) {
		return c.Control.BalanceStrategy(ctx, body.Name, body.Options)
	})
}

func (c *Config) replicas(w http.ResponseWriter, r *http.Request) {
	var body replicasBody
	if !read(w, r, &body) {
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.Replicas, error) {
		return &body.Replicas, c.Control.BalanceReplicas(ctx, body.Replicas.Replicas)
	})
}

func (c *Config) pause(paused bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !silent(w, r) {
			return
		}
		answer(c, w, r, func(ctx context.Context) (*api.Paused, error) {
			return &api.Paused{Paused: paused}, c.Control.BalancePause(ctx, paused)
		})
	}
}

// read reads a body and reports whether that succeeded; if not, it has answered with the error.
func read(w http.ResponseWriter, r *http.Request, p api.Params) bool {
	err := api.FromQuery(api.None{}, r.URL.RawQuery)
	if err == nil {
		err = httpapi.ReadBody(w, r, bodyTimeout, httpapi.MaxBody, p)
	}
	if err != nil {
		httpapi.WriteError(w, err)
	}
	return err == nil
}

// silent reports whether a request has no query and no body; if it has any, silent has answered
// with an error.
func silent(w http.ResponseWriter, r *http.Request) bool {
	err := noInput(r)
	if err != nil {
		w.Header().Set("Connection", "close") // an unread body may never end
		httpapi.WriteError(w, err)
	}
	return err == nil
}
