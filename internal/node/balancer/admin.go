package balancer

import (
	"net/http"
	"sync/atomic"

	"adshard/internal/node/admin"
)

// adminOfHost is the admin page of the balancer that is at work.
type adminOfHost struct {
	cfg  admin.Config
	host *Host
	of   atomic.Pointer[balancerPage]
}

// balancerPage is the admin page of one balancer.
type balancerPage struct {
	balancer *Balancer
	http.Handler
}

// ServeHTTP implements http.Handler.
func (a *adminOfHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b := a.host.last.Load()
	page := a.of.Load()
	if page == nil || page.balancer != b {
		cfg := a.cfg
		cfg.Control = control{b}
		page = &balancerPage{b, admin.New(cfg)}
		a.of.Store(page)
	}
	page.ServeHTTP(w, r)
}

// AdminHandler returns the handler of the admin port.
func (h *Host) AdminHandler(cfg admin.Config) http.Handler {
	return &adminOfHost{cfg: cfg, host: h}
}
