package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// RunBalancer runs a balancer until ctx is over. When it listens it prints
// "balancer ready ADDR" on out, and "admin URL" when there is an admin port.
func RunBalancer(ctx context.Context, cfg BalancerConfig, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	db, err := OpenDB(ctx, cfg.DB, false)
	if err != nil {
		return err
	}
	defer db.Close()
	port, err := newAdminPort(cfg.Admin)
	if err != nil {
		return err
	}
	defer port.close()
	listener, err := listenOn("listen", cfg.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if cfg.Advertise == "" {
		cfg.Advertise = listener.Addr().String()
	}
	b, err := NewBalancer(ctx, cfg, db, log)
	if err != nil {
		return err
	}
	registerBalancerMetrics(port.of("balancer"), b)
	port.print(out)
	fmt.Fprintf(out, "balancer ready %s\n", listener.Addr())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.Serve(ctx, listener) })
	group.Go(func() error { return port.serve(ctx, control{b}.ready, control{b}, log) })
	return group.Wait()
}

// Serve runs the balancer and serves slaves and masters on listener, which it
// closes, until ctx is over (nil) or the balancer cannot go on.
func (b *Balancer) Serve(ctx context.Context, listener net.Listener) error {
	server := grpc.NewServer(wire.ServerOptions(func(method string, cause any) {
		b.log.Error("a call panicked", "method", method, "cause", cause)
	})...)
	pb.RegisterBalancerServer(server, b)
	if b.provider != nil {
		pb.RegisterDistributorServer(server, b.provider)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return servePolls(ctx, server, listener) })
	group.Go(func() error { return b.Run(ctx) })
	return group.Wait()
}

// OpenDB opens the backend database named by url: sqlite:PATH; create makes
// the file when there is none. Errors: fault.Invalid for another kind of
// database, those of the backend.
func OpenDB(ctx context.Context, url string, create bool) (backend.Store, error) {
	kind, path, ok := strings.Cut(url, ":")
	if !ok || kind != "sqlite" || path == "" {
		return nil, fault.Field("open database", "db", "%q is no database this program knows; give sqlite:PATH", url)
	}
	return sqlite.Open(ctx, path, sqlite.Options{Create: create})
}
