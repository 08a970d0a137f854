package balancer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"

	"golang.org/x/sync/errgroup"

	"adshard/internal/node/database"
	"adshard/internal/node/ports"
)

// Run runs a balancer until ctx is done. When it listens it prints
// "balancer ready ADDR" on out, and "admin URL" when there is an admin port.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	db, err := database.Open(ctx, cfg.DB, false)
	if err != nil {
		return err
	}
	defer db.Close()
	port, err := ports.Open(cfg.Admin, cfg.AdminHosts...)
	if err != nil {
		return err
	}
	defer port.Close()
	listener, err := ports.Listen(port.Sockets.Peers, "listen", cfg.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if cfg.Advertise == "" {
		cfg.Advertise = listener.Addr().String()
	}
	b, err := New(ctx, cfg, db, log)
	if err != nil {
		return err
	}
	host := NewHost(b)
	RegisterMetrics(port.Registerer("balancer"), host)
	port.Sockets.Register(port.Registerer("balancer"))
	port.Print(out)
	fmt.Fprintf(out, "balancer ready %s\n", listener.Addr())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return host.Serve(ctx, listener) })
	group.Go(func() error { return port.Serve(ctx, host.Ready, host.AdminHandler, log) })
	return group.Wait()
}

// Serve is Host.Serve of a new host.
func (b *Balancer) Serve(ctx context.Context, listener net.Listener) error {
	return NewHost(b).Serve(ctx, listener)
}
