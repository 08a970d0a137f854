package balancer

import (
	"context"
	"net/http"
	"sync/atomic"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/admin"
	"adshard/internal/node/data"
	"adshard/search"
)

// adminOfHost is the admin page of the balancer that is at work.
type adminOfHost struct {
	cfg  admin.Config
	host *Host
	of   atomic.Pointer[balancerPage]
}

// balancerPage is the admin page of one balancer.
type balancerPage struct {
	balancer *Balancer // nil: another host leads, or this one is starting
	http.Handler
}

// ServeHTTP implements http.Handler.
func (a *adminOfHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b := a.host.last.Load()
	page := a.of.Load()
	if page == nil || page.balancer != b {
		cfg := a.cfg
		cfg.Refuse, cfg.Control = a.host.notLeading, adminOfStandby{db: a.host.db}
		if b != nil {
			cfg.Refuse, cfg.Control = a.host.refusal, adminControl{b}
		}
		page = &balancerPage{b, admin.New(cfg)}
		a.of.Store(page)
	}
	page.ServeHTTP(w, r)
}

// AdminHandler returns the handler of the admin port.
func (h *Host) AdminHandler(cfg admin.Config) http.Handler {
	cfg.Data, cfg.Currency = data.New(h.db, h.served, h.log), h.cfg.Currency
	if h.spend != nil {
		cfg.Data.ShowSpend(h.spend.Today)
	}
	return &adminOfHost{cfg: cfg, host: h}
}

// notLeading returns why a page without a balancer refuses the calls that only the leader may answer. That
// includes the time in which the host begins to lead.
func (h *Host) notLeading() error {
	if s := h.standby.Load(); s != nil {
		return s.refusal()
	}
	return fault.Newf(fault.Unavailable, "balancer", "the balancer is starting; ask again after a pause")
}

// refusal returns why the admin port refuses the calls that only the leader may answer, or nil if this host
// leads.
func (h *Host) refusal() error {
	if s := h.standby.Load(); s != nil {
		return s.refusal()
	}
	if b := h.now.Load(); b != nil && !b.leadership.Valid() {
		return b.suspended()
	}
	return nil
}

// adminOfStandby marks budgets, which any balancer may do. The admin port refuses all other calls before
// they reach it.
type adminOfStandby struct {
	admin.Control
	db backend.Store
}

// SetBudget implements admin.Control.
func (a adminOfStandby) SetBudget(ctx context.Context, campaign uint64, m backend.BudgetMark) (search.Position, error) {
	return setBudget(ctx, a.db, campaign, m)
}
