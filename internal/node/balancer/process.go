package balancer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/balance"
	"adshard/internal/node/access"
	"adshard/internal/node/config"
	"adshard/internal/node/control"
	"adshard/internal/node/database"
	"adshard/internal/node/health"
	"adshard/internal/node/ports"
)

// garbage is the amount of garbage that the heap of a balancer may always hold: each move makes a
// table of slices for every slave, which is dropped soon after.
const garbage = 96 << 20

// Run runs a balancer until ctx is done. It prints "admin URL" on `out` if there is an admin port,
// then "balancer ready ADDR" whenever it begins to lead, and "balancer standby ADDR" when another
// balancer of its cluster leads and it is ready to take over.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := cfg.CheckStart(ctx, log); err != nil {
		return err
	}
	db, err := database.OpenTelling(ctx, cfg.DB, func(text string) { log.Warn(text) })
	if err != nil {
		return err
	}
	defer db.Close()
	own, err := cfg.Settings.Open(access.Balancer, "", log)
	if err != nil {
		return err
	}
	cfg.Credentials = own
	port, err := ports.Open(own, cfg.Admin, cfg.AdminHosts...)
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
		cfg.Advertise = ownAddress(listener.Addr())
	}
	order, err := cfg.prepare(ctx, db)
	if err != nil {
		return err
	}
	store, closeStore, err := cfg.openControl(db, order)
	if err != nil {
		return err
	}
	defer func() { _ = closeStore() }()
	host := newHost(cfg, order, db, store, port.URL(), log)
	host.announce = func(what string) { fmt.Fprintf(out, "balancer %s %s\n", what, listener.Addr()) }
	RegisterMetrics(port.Registerer("balancer"), host)
	port.Register("balancer")
	port.RegisterState("balancer", append(database.Files(cfg.DB), database.Files(cfg.Events)...), log)
	port.Print(out)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return host.Serve(ctx, listener) })
	group.Go(func() error {
		_ = config.LeaveGarbage(ctx, garbage) // it returns the error of ctx
		return nil
	})
	group.Go(func() error { return port.Serve(ctx, host.Ready, host.AdminHandler, log) })
	return group.Wait()
}

// ownAddress returns the address of a listener. If the listener takes calls on all addresses of the
// host, the name of the host stands for them, so that no other balancer has the same address.
func ownAddress(a net.Addr) string {
	if !config.Unspecified(a.String()) {
		return a.String()
	}
	host, err := os.Hostname()
	if err != nil {
		return a.String()
	}
	_, port, _ := net.SplitHostPort(a.String()) // a listener's address always splits
	return net.JoinHostPort(host, port)
}

// newHost returns a host that stands by and leads as soon as it may. The configuration must be
// prepared; `admin` is the URL of the host's admin port.
func newHost(cfg Config, order balance.Order, db backend.Store, store control.Store, admin string, log *slog.Logger) *Host {
	h := &Host{cfg: cfg, order: order, db: db, store: store,
		me: control.Candidate{Address: cfg.Advertise, Admin: admin}, standsBy: true, announce: func(string) {}, log: log,
		spend: spendOf(&cfg, db, log)}
	h.standby.Store(h.newStandby(health.New()))
	return h
}

// Serve serves the balancer through a new Host (Host.Serve).
func (b *Balancer) Serve(ctx context.Context, listener net.Listener) error {
	return NewHost(b).Serve(ctx, listener)
}
