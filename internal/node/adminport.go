package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"

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

// serve serves the admin port until ctx is done. ready returns why the process
// cannot do its work. handler makes the handler of a configuration; nil: admin.New.
func (p *adminPort) serve(ctx context.Context, ready func() []string, handler func(admin.Config) http.Handler, log *slog.Logger) error {
	if p.listener == nil {
		<-ctx.Done()
		return nil
	}
	cfg := admin.Config{Registry: p.registry, Ready: ready, Explain: p.explain, Hosts: p.hosts, Log: log}
	if handler == nil {
		handler = admin.New
	}
	return httpapi.Serve(ctx, p.listener, handler(cfg))
}

func (p *adminPort) close() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
}
