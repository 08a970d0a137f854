package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/internal/node/admin"
	"adshard/internal/node/config"
	"adshard/internal/node/ports"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/wire"
	"adshard/loadproxy"
	"adshard/schema/pb"
)

// RunSlave runs a slave until ctx is over. When it serves it prints
// "slave N ready ADDR" (a name slave-N as N) and "admin http://ADDR" on out.
func RunSlave(ctx context.Context, cfg SlaveConfig, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	port, err := ports.Open(cfg.Admin, cfg.AdminHosts...)
	if err != nil {
		return err
	}
	defer port.Close()
	store, err := openStore(&cfg)
	if err != nil {
		return err
	}
	defer closeStore(store, log)
	s, err := newSlave(cfg, store, port, log)
	if err != nil {
		return err
	}
	port.Sockets.Register(port.Registerer(cfg.Name))
	port.Print(out)
	fmt.Fprintf(out, "slave %s ready %s\n", shortName(cfg.Name), s.address())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return port.Serve(ctx, s.ready, nil, log) })
	group.Go(func() error { return s.run(ctx) })
	return group.Wait()
}

// shortName is a slave's name on its ready line.
func shortName(name string) string { return strings.TrimPrefix(name, "slave-") }

// openStore opens the slave's RocksDB and makes its directory.
func openStore(cfg *SlaveConfig) (barrels.Store, error) {
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, config.DirError(cfg.Dir, err)
	}
	store, err := rocks.Open(cfg.Dir, rocks.Options{Name: cfg.Name, CacheBytes: cfg.CacheBytes, WriteBufferBytes: cfg.WriteBytes})
	if err != nil {
		return nil, fmt.Errorf("open the store of %s in %s: %w", cfg.Name, cfg.Dir, err)
	}
	return store, nil
}

func closeStore(store barrels.Store, log *slog.Logger) {
	if err := store.Close(); err != nil {
		log.Error("the store did not close cleanly", "err", err)
	}
}

// slave is a slave that listens.
type slave struct {
	cfg      SlaveConfig
	store    barrels.Store
	listener net.Listener
	server   *grpc.Server
	balancer *link
	proxy    *loadproxy.Proxy
	log      *slog.Logger
}

// newSlave listens and connects; it does not own the store.
func newSlave(cfg SlaveConfig, store barrels.Store, port *ports.Ports, log *slog.Logger) (*slave, error) {
	listener, err := ports.Listen(port.Sockets.Peers, "listen", cfg.Listen)
	if err != nil {
		return nil, err
	}
	s := &slave{cfg: cfg, store: store, listener: listener, log: log.With("node", cfg.Name)}
	if s.balancer, err = newLink(&cfg); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	own := loadproxy.Default(cfg.Name, s.address())
	own.Incarnation, own.Grace, own.MaxBytes = rand.Text(), cfg.Grace, uint32(cfg.BucketBytes)
	own.Counted = cfg.LoadCounted
	s.proxy, err = loadproxy.New(own, store, s.balancer, s.log)
	if err != nil {
		s.close()
		return nil, err
	}
	metrics := admin.NewSlaveMetrics(port.Registerer(cfg.Name), store, s.proxy.State, s.log)
	s.server = grpc.NewServer(wire.SlaveOptions(func(_ string, cause any) { metrics.Panicked(cause) })...)
	pb.RegisterSlaveServer(s.server, shardserver.New(
		shardserver.Identity{Name: cfg.Name, Incarnation: own.Incarnation}, store, s.proxy, cfg.MaxInFlight, metrics, s.adopt))
	return s, nil
}

// address is where masters reach the slave.
func (s *slave) address() string {
	if s.cfg.Advertise != "" {
		return s.cfg.Advertise
	}
	return s.listener.Addr().String()
}

// state returns how the slave keeps up with its distributor.
func (s *slave) state() loadproxy.State { return s.proxy.State() }

// close ends what newSlave began if run never did.
func (s *slave) close() {
	_ = s.listener.Close()
	s.balancer.close()
}

// adopt is the shardserver.Adopter.
func (s *slave) adopt(balancer string) (name string, err error) {
	if err := s.balancer.adopt(balancer); err != nil {
		return "", err
	}
	s.log.Info("adopted", "balancer", balancer)
	return s.cfg.Name, nil
}

// run serves until ctx is over.
func (s *slave) run(ctx context.Context) error {
	defer s.balancer.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ports.ServeGRPC(ctx, s.server, s.listener) })
	group.Go(func() error { return s.proxy.Run(ctx) })
	return group.Wait()
}

// ready returns why the slave cannot do all of its work. Without a balancer it
// still serves what it holds.
func (s *slave) ready() []string {
	state := s.proxy.State()
	if state.Refused {
		return []string{s.cfg.Name + " is refused: " + state.Trouble}
	}
	if state.CaughtUp && state.Lacking == "" && !loadproxy.OnlyFilling(s.store.Slices()) {
		return nil
	}
	if state.Repair != "" {
		return []string{s.cfg.Name + ": " + state.Repair}
	}
	why := []string{s.cfg.Name + " does not yet hold all that it should"}
	if state.Trouble != "" {
		why = append(why, state.Trouble)
	}
	return why
}
