// Package ports manages what a process listens on: its listeners and the limits on their connections, its gRPC
// servers, its admin port and its metrics.
package ports

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/admin"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/console"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/metrics"
	"adshard/internal/ulimit"
	"adshard/places"
)

// Ports holds the admin port of a process, its metrics, and the limits on its connections. There is no admin
// port if its address is empty.
type Ports struct {
	listener net.Listener // nil if there is no admin port
	own      *certs.Credentials
	registry *prometheus.Registry
	Sockets  *Sockets
	hosts    httpapi.Names        // names under which the port may be called
	Explain  http.Handler         // serves a master's explanations; nil if there are none
	Places   func() *places.Table // returns a master's table of places, or nil until it is known; is nil if there is no master
	Slow     http.Handler         // serves a master's slowest searches; nil if they are not kept
}

// Open listens on the admin port, with the credentials of the process. The port accepts requests whose Host is
// localhost, one of its addresses, or one of `hosts`.
func Open(own *certs.Credentials, address string, hosts ...string) (*Ports, error) {
	p := &Ports{registry: metrics.NewRegistry(), Sockets: newSockets(ulimit.Files()), hosts: hosts, own: own}
	if address == "" {
		return p, nil
	}
	if !config.Unspecified(address) {
		p.hosts = append(slices.Clone(hosts), address)
	}
	var err error
	if p.listener, err = Listen(p.Sockets.Admin, "admin", address); err == nil {
		p.listener = own.Admin(p.listener)
	}
	return p, err
}

// Registerer returns a registerer for the metrics of one node of the process; it adds the node's name as a
// label.
func (p *Ports) Registerer(node string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"node": node}, p.registry)
}

// Names returns the names under which the admin port may be called.
func (p *Ports) Names() httpapi.Names { return slices.Clone(p.hosts) }

// URL returns the URL of the admin port, or "" if there is none.
func (p *Ports) URL() string {
	if p.listener == nil {
		return ""
	}
	return p.own.Scheme() + "://" + p.listener.Addr().String()
}

// Register registers the metrics of the ports under the name of a node.
func (p *Ports) Register(node string) {
	r := p.Registerer(node)
	p.Sockets.register(r)
	p.own.Register(r)
	began := float64(time.Now().UnixMilli()) / 1000
	metrics.Gauge(prometheus.WrapRegistererWith(prometheus.Labels{"by": string(config.StartedBy())}, r), "adshard_process_started_seconds",
		"When the process was started, by its clock, in seconds since 1970, and by what: systemd, up or hand.", func() float64 { return began })
	metrics.Gauge(r, "adshard_clock_seconds", "The clock of the process, in seconds since 1970.",
		func() float64 { return float64(time.Now().UnixMilli()) / 1000 })
}

// Print prints the URL of the admin port, if there is one.
func (p *Ports) Print(out io.Writer) {
	if p.listener != nil {
		fmt.Fprintf(out, "admin %s\n", p.URL())
	}
}

// Serve serves the admin port, and keeps the credentials up to date, until ctx is done. `ready` returns why the
// process cannot do its work. `handler` makes the handler from a configuration; if it is nil, admin.New does.
func (p *Ports) Serve(ctx context.Context, ready func() []string, handler func(admin.Config) http.Handler, log *slog.Logger) error {
	if p.listener == nil {
		p.own.Run(ctx)
		<-ctx.Done()
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var watched sync.WaitGroup
	watched.Go(func() { p.own.Run(ctx) })
	defer watched.Wait()
	defer cancel()
	cfg := admin.Config{Registry: p.registry, Ready: ready, Explain: p.Explain, Slow: p.Slow, Hosts: p.hosts, Gate: p.own.Gate(), Memory: new(console.Memory), Log: log}
	if p.Places != nil {
		cfg.Places = p.table
	}
	if handler == nil {
		handler = admin.New
	}
	served := handler(cfg)
	watched.Go(func() { cfg.Memory.History.Run(ctx, served) })
	return httpapi.Serve(ctx, p.listener, served)
}

// table returns the master's table of places, or the built-in one until the balancer has announced one.
func (p *Ports) table(context.Context) (*places.Table, error) {
	if t := p.Places(); t != nil {
		return t, nil
	}
	return places.Countries(), nil
}

// Close closes the admin port. Call it if Serve is never called.
func (p *Ports) Close() {
	if p.listener != nil {
		_ = p.listener.Close()
	}
}
