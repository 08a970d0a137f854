package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/backend"
	"adshard/balance"
	"adshard/internal/node/database"
	"adshard/internal/node/health"
	"adshard/internal/node/ports"
	"adshard/internal/node/remote"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// RunDistributor runs a distributor until ctx is over. When it listens it
// prints "distributor N ready ADDR" on out (a name distributor-N as N), and
// "admin http://ADDR" before it when there is an admin port.
func RunDistributor(ctx context.Context, cfg DistributorConfig, out io.Writer, log *slog.Logger) error {
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
	d, err := newDistributor(ctx, cfg, db, port, log)
	if err != nil {
		return err
	}
	port.Sockets.Register(port.Registerer(cfg.Name))
	port.Print(out)
	fmt.Fprintf(out, "distributor %s ready %s\n", strings.TrimPrefix(cfg.Name, "distributor-"), d.provider.address)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return port.Serve(ctx, d.ready, nil, log) })
	group.Go(func() error { return d.run(ctx) })
	return group.Wait()
}

// distributor is a provider that listens.
type distributor struct {
	listener net.Listener
	balancer *grpc.ClientConn
	provider *provider
}

// newDistributor listens, connects and loads all items; db stays the caller's.
func newDistributor(ctx context.Context, cfg DistributorConfig, db backend.Store, port *ports.Ports, log *slog.Logger) (*distributor, error) {
	listener, err := ports.Listen(port.Sockets.Peers, "listen", cfg.Listen)
	if err != nil {
		return nil, err
	}
	d := &distributor{listener: listener}
	if d.balancer, err = wire.Dial(cfg.Balancer); err != nil {
		_ = listener.Close()
		return nil, err
	}
	address := cfg.Advertise
	if address == "" {
		address = listener.Addr().String()
	}
	order, _ := balance.ParseOrder(cfg.Order)
	d.provider = newProvider(cfg.Name, address, cfg.SupplyConfig, order, db, remote.Balancer{Conn: d.balancer}, health.New(), log.With("node", cfg.Name))
	if err := d.provider.load(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// address is where slaves reach the distributor.
func (d *distributor) address() string { return d.provider.address }

// slaves returns how many slaves have asked for node data within the last seconds.
func (d *distributor) slaves() int {
	d.provider.mu.Lock()
	defer d.provider.mu.Unlock()
	n := 0
	for _, c := range d.provider.clients {
		if time.Since(c.seen) < recently {
			n++
		}
	}
	return n
}

// recently is longer than a slave waits between two pulls.
const recently = 3 * time.Second

// close ends what newDistributor began if run never did.
func (d *distributor) close() {
	_ = d.listener.Close()
	_ = d.balancer.Close()
}

// run serves until ctx is over.
func (d *distributor) run(ctx context.Context) error {
	defer d.balancer.Close()
	server := grpc.NewServer(wire.ControlOptions(func(method string, cause any) {
		d.provider.log.Error("a call panicked", "method", method, "cause", cause)
	})...)
	pb.RegisterDistributorServer(server, d.provider)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ports.ServePolls(ctx, server, d.listener) })
	group.Go(func() error { return d.provider.run(ctx) })
	return group.Wait()
}

// ready returns why the distributor cannot do its work.
func (d *distributor) ready() []string {
	d.provider.mu.Lock()
	unheard := d.provider.dist == nil
	d.provider.mu.Unlock()
	if unheard {
		return []string{d.provider.unheard("").Error()}
	}
	return append(d.provider.health.Failures(), health.Database(d.provider.db)...)
}
