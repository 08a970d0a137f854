package distributor

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
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/database"
	"adshard/internal/node/health"
	"adshard/internal/node/identity"
	"adshard/internal/node/ports"
	"adshard/internal/node/remote"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Run runs a distributor until ctx is done. When it listens, it prints "distributor N listening ADDR" on `out` (only N of a name
// distributor-N), and "distributor N ready ADDR" as soon as it can work. If there is an admin port, it prints "admin http://ADDR" before.
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
	own, err := cfg.Settings.Open(access.Distributor, cfg.Name, log)
	if err != nil {
		return err
	}
	cfg.Credentials = own
	port, err := ports.Open(own, cfg.Admin, cfg.AdminHosts...)
	if err != nil {
		return err
	}
	defer port.Close()
	d, err := NewProcess(ctx, cfg, db, port, log)
	if err != nil {
		return err
	}
	port.Register(cfg.Name)
	port.RegisterState(cfg.Name, database.Files(cfg.DB), log)
	port.Print(out)
	name := "distributor " + strings.TrimPrefix(cfg.Name, "distributor-")
	fmt.Fprintf(out, "%s listening %s\n", name, d.Address())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { health.Announce(ctx, out, name+" ready "+d.Address(), d.ready); return nil })
	group.Go(func() error { return port.Serve(ctx, d.ready, nil, log) })
	group.Go(func() error { return d.Run(ctx) })
	return group.Wait()
}

// Process is a Distributor that listens.
type Process struct {
	listener    net.Listener
	own         *certs.Credentials
	balancer    *remote.Leader
	distributor *Distributor
}

// NewProcess listens, connects to the balancer and loads all items. The caller
// closes db.
func NewProcess(ctx context.Context, cfg Config, db backend.Store, port *ports.Ports, log *slog.Logger) (*Process, error) {
	order, err := identity.OrderOf(ctx, db, cfg.StateKey, cfg.Order, identity.DefaultOrder)
	if err != nil {
		return nil, err
	}
	listener, err := ports.Listen(port.Sockets.Peers, "listen", cfg.Listen)
	if err != nil {
		return nil, err
	}
	d := &Process{listener: listener, own: cfg.Credentials}
	if d.balancer, err = remote.Find(cfg.Balancer, cfg.Languages, d.own, log.With("node", cfg.Name)); err != nil {
		_ = listener.Close()
		return nil, err
	}
	address := cfg.Advertise
	if address == "" {
		address = listener.Addr().String()
	}
	d.distributor = New(cfg.Name, address, cfg.DataConfig, order, db, d.balancer, health.New(), log.With("node", cfg.Name))
	if err := d.distributor.Load(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Address returns the address at which slaves reach the distributor.
func (d *Process) Address() string { return d.distributor.address }

// Slaves returns how many slaves have asked for data within the last few seconds.
func (d *Process) Slaves() int {
	d.distributor.mu.Lock()
	defer d.distributor.mu.Unlock()
	n := 0
	for _, c := range d.distributor.slaves {
		if time.Since(c.seen) < recently {
			n++
		}
	}
	return n
}

// recently is a time that is longer than a slave waits between two pulls.
const recently = 3 * time.Second

// Close releases what NewProcess opened. Call it if Run is never called.
func (d *Process) Close() {
	_ = d.listener.Close()
	_ = d.balancer.Close()
}

// Run serves until ctx is done.
func (d *Process) Run(ctx context.Context) error {
	defer d.balancer.Close()
	server := grpc.NewServer(wire.ControlOptions(d.distributor.cfg.Languages, func(method string, cause any) {
		d.distributor.log.Error("a call panicked", "method", method, "cause", cause)
	}, d.own.ServerOptions()...)...)
	pb.RegisterDistributorServer(server, d.distributor)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ports.ServePolls(ctx, server, d.listener) })
	group.Go(func() error { return d.distributor.Run(ctx) })
	return group.Wait()
}

// ready returns why the distributor cannot do its work, or an empty list if it can.
func (d *Process) ready() []string {
	d.distributor.mu.Lock()
	unheard := d.distributor.machine == nil
	d.distributor.mu.Unlock()
	why := d.distributor.health.With(d.distributor.db)
	if unheard && len(why) == 0 { // other failures say more
		why = append(why, d.distributor.noBalancer("").Error())
	}
	return why
}
