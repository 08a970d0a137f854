package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/admin"
	"adshard/internal/node/httpapi"
)

// adminPort is what a process shows of itself, and its admin server; without an
// address there is none.
type adminPort struct {
	listener net.Listener // nil: none
	registry *prometheus.Registry
	sockets  *sockets
	hosts    []string     // by which it may be called, beside its addresses
	explain  http.Handler // a master's, once there is one
}

// newAdminPort listens; hosts are names by which the port may be called.
func newAdminPort(address string, hosts ...string) (*adminPort, error) {
	p := &adminPort{registry: admin.NewRegistry(), sockets: newSockets(fileLimit()), hosts: hosts}
	if address == "" {
		return p, nil
	}
	if !everywhere(address) {
		p.hosts = append(slices.Clone(hosts), address)
	}
	var err error
	p.listener, err = listenOn(p.sockets.admin, "admin", address)
	return p, err
}

// of returns a registerer for the metrics of one node of the process; they
// carry its name.
func (p *adminPort) of(node string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"node": node}, p.registry)
}

// print tells where the port is.
func (p *adminPort) print(out io.Writer) {
	if p.listener != nil {
		fmt.Fprintf(out, "admin http://%s\n", p.listener.Addr())
	}
}

// serve runs until ctx is over. ready returns why the process cannot do its
// work; host is a balancer's, else nil.
func (p *adminPort) serve(ctx context.Context, ready func() []string, host *balancerHost, log *slog.Logger) error {
	if p.listener == nil {
		<-ctx.Done()
		return nil
	}
	cfg := admin.Config{Registry: p.registry, Ready: ready, Explain: p.explain, Hosts: p.hosts, Log: log}
	if host == nil {
		return httpapi.Serve(ctx, p.listener, admin.New(cfg))
	}
	return httpapi.Serve(ctx, p.listener, &adminOfHost{cfg: cfg, host: host})
}

// adminOfHost is the admin page of the balancer that is at work.
type adminOfHost struct {
	cfg  admin.Config
	host *balancerHost
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

func (p *adminPort) close() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
}
