package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/admin"
	"adshard/internal/node/httpapi"
)

// adminPort is the admin server of a process; without an address it is none.
type adminPort struct {
	listener net.Listener // nil: none
	registry *prometheus.Registry
}

func newAdminPort(address string) (*adminPort, error) {
	p := &adminPort{registry: admin.NewRegistry()}
	if address == "" {
		return p, nil
	}
	var err error
	p.listener, err = listenOn("admin", address)
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
// work; control is a balancer's, else nil.
func (p *adminPort) serve(ctx context.Context, ready func() []string, control admin.Control, log *slog.Logger) error {
	if p.listener == nil {
		<-ctx.Done()
		return nil
	}
	return httpapi.Serve(ctx, p.listener, admin.New(admin.Config{
		Registry: p.registry, Ready: ready, Control: control, Log: log}))
}

func (p *adminPort) close() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
}
