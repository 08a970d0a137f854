// Package slave is the process that keeps a part of the groups in a store and answers the searches
// that masters make in it. It gets its data through a distributor (package loadproxy).
package slave

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/barrels/rocks"
	"adshard/internal/node/access"
	"adshard/internal/node/background"
	"adshard/internal/node/config"
	"adshard/internal/node/copying"
	"adshard/internal/node/documents"
	"adshard/internal/node/health"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/metrics"
	"adshard/internal/node/overload"
	"adshard/internal/node/ports"
	"adshard/internal/node/scorers"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/internal/outfile"
	"adshard/loadproxy"
	"adshard/schema/pb"
)

// Run runs a slave until ctx is done. It prints "admin http://ADDR" on `out`, "slave N listening ADDR" (only N of a name slave-N) when
// it listens, and "slave N ready ADDR" as soon as its admin port reports that it is ready.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := cfg.CheckStart(ctx, log); err != nil {
		return err
	}
	own, err := cfg.Settings.Open(access.Slave, cfg.Name, log)
	if err != nil {
		return err
	}
	cfg.Credentials = own
	port, err := ports.Open(own, cfg.Admin, cfg.AdminHosts...)
	if err != nil {
		return err
	}
	defer port.Close()
	plan, err := memlimit.Divide(cfg.Memory, 1)
	if err != nil {
		return err
	}
	plan.Begin()
	cfg = cfg.Within(plan)
	if cfg.Models, err = scorers.Open(cfg.Scorer, log); err != nil {
		return err
	}
	p := &process{cfg: cfg, copier: &copier{cfg: &cfg, log: log.With("node", cfg.Name)}, out: out, log: log}
	port.Register(cfg.Name)
	port.RegisterState(cfg.Name, []string{cfg.Dir}, log)
	port.Print(out)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return port.Serve(ctx, p.ready, nil, log) }) // also while it copies
	group.Go(func() error { return p.run(ctx, plan, port) })
	group.Go(func() error { plan.Hold(ctx); return nil })
	group.Go(func() error { cfg.Models.Run(ctx); return nil })
	return group.Wait()
}

// process is a slave that has a process of its own.
type process struct {
	cfg    Config
	copier *copier // used until there is a slave
	slave  atomic.Pointer[Slave]
	out    io.Writer
	log    *slog.Logger
}

// run copies another slave's store if that is configured, and runs the slave until ctx is done.
func (p *process) run(ctx context.Context, plan memlimit.Plan, port *ports.Ports) error {
	if err := p.copier.atStart(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	config.SpareProcessor()
	store, err := OpenStore(&p.cfg, plan)
	if err != nil {
		store, err = Replace(&p.cfg, plan, err, false, p.log)
	}
	if err != nil {
		return err
	}
	defer CloseStore(store, p.log)
	s, err := New(p.cfg, store, overload.New(overload.ForSlave(p.cfg.MaxInFlight)), port, p.log)
	if err != nil {
		return err
	}
	p.slave.Store(s)
	fmt.Fprintf(p.out, "slave %s listening %s\n", s.Name(), s.Address())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Run(ctx) })
	group.Go(func() error {
		health.Announce(ctx, p.out, fmt.Sprintf("slave %s ready %s", s.Name(), s.Address()), s.Ready)
		return nil
	})
	return group.Wait()
}

// ready returns why the slave cannot do all of its work.
func (p *process) ready() []string {
	if s := p.slave.Load(); s != nil {
		return s.Ready()
	}
	if text := p.copier.describe(); text != "" {
		return []string{text}
	}
	return []string{p.cfg.Name + " opens its store"}
}

// shortName returns a slave's name as the lines that it prints have it.
func shortName(name string) string { return strings.TrimPrefix(name, "slave-") }

// OpenStore opens the slave's store on RocksDB, within a plan for memory, and creates its directory
// if necessary.
func OpenStore(cfg *Config, plan memlimit.Plan) (barrels.Store, error) {
	if err := errors.Join(outfile.CheckStore(cfg.Dir), outfile.MakeDir(cfg.Dir)); err != nil {
		return nil, config.DirError(cfg.Dir, err)
	}
	if _, err := instanceOf(cfg.Dir); err != nil {
		return nil, openError(cfg, err)
	}
	db, err := rocks.Open(cfg.Dir, rocks.Options{CacheBytes: plan.Cache, WriteBufferBytes: plan.Buffers, Statistics: cfg.RocksDBStatistics})
	if err != nil {
		return nil, openError(cfg, err)
	}
	store, err := barrels.Open(db, barrels.Options{Name: cfg.Name, CacheBytes: plan.Data, Languages: cfg.Languages, Scorers: cfg.Models.Find})
	if err != nil {
		return nil, openError(cfg, err)
	}
	if err := plan.Check(cfg.Memory, always(store)); err != nil {
		return nil, errors.Join(openError(cfg, err), store.Close())
	}
	return store, nil
}

func openError(cfg *Config, err error) error {
	return fmt.Errorf("open the store of %s in %s: %w", cfg.Name, cfg.Dir, err)
}

// CloseStore closes a store, and logs an error if that fails.
func CloseStore(store barrels.Store, log *slog.Logger) {
	if err := store.Close(); err != nil {
		log.Error("the store did not close cleanly", "err", err)
	}
}

// Slave is a slave that listens.
type Slave struct {
	cfg      Config
	store    barrels.Store
	threads  *background.Threads // for the store's bulk work
	listener net.Listener
	server   *grpc.Server
	shard    *shardserver.Server
	balancer *link
	proxy    *loadproxy.Proxy
	copies   *copying.Source
	copier   *copier
	tracer   *tracing.Tracer // nil if nothing is traced
	memory   memoryWatch
	lists    *documents.Lists
	follower *documents.Follower // of lists
	log      *slog.Logger
}

// New listens and connects to the balancer. Searches pass `gate`, which all slaves of a process
// share. The caller closes store.
func New(cfg Config, store barrels.Store, gate *overload.Gate, port *ports.Ports, log *slog.Logger) (*Slave, error) {
	instance, err := instanceOf(cfg.Dir)
	if err != nil {
		return nil, err
	}
	listener, err := ports.Listen(port.Sockets.Peers, "listen", cfg.Listen)
	if err != nil {
		return nil, err
	}
	s := &Slave{cfg: cfg, threads: new(background.Threads), lists: new(documents.Lists), listener: listener, log: log.With("node", cfg.Name)}
	store = bulkStore{store, s.threads}
	s.store = store
	s.copier = &copier{cfg: &s.cfg, log: s.log}
	if s.balancer, err = newLink(&cfg, s.log); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	own := loadproxy.Default(cfg.Name, s.Address())
	own.Incarnation, own.Grace, own.MaxBytes = rand.Text(), cfg.Grace, uint32(cfg.BucketBytes)
	own.Counted, own.Zone, own.Instance, own.Copier, own.Spool = cfg.LoadCounted, cfg.Zone, instance, s.copier, cfg.Dir
	own.Languages = cfg.Languages
	s.proxy, err = loadproxy.New(own, store, s.balancer, s.log)
	if err != nil {
		s.Close()
		return nil, err
	}
	observer := NewMetrics(port.Registerer(cfg.Name), store, s.proxy.State, s.log)
	s.server = grpc.NewServer(wire.SlaveOptions(cfg.Languages, func(_ string, cause any) { observer.Panicked(cause) }, cfg.Credentials.ServerOptions()...)...)
	s.shard = shardserver.New(
		shardserver.Identity{Name: cfg.Name, Incarnation: own.Incarnation, Instance: instance, Languages: cfg.Languages}, store, s.proxy, gate, observer, s.adopt)
	if s.tracer, err = tracing.Open(cfg.Traces, "slave", cfg.Name, s.log); err != nil {
		s.Close()
		return nil, err
	}
	s.tracer.Register(port.Registerer(cfg.Name))
	s.shard.Trace(s.tracer)
	s.shard.Block(s.lists)
	pb.RegisterSlaveServer(s.server, s.shard)
	metrics.WatchGate(port.Registerer(cfg.Name), gate)
	if s.copies, err = newCopies(&cfg, instance, store, s.proxy, s.log); err != nil {
		s.Close()
		return nil, err
	}
	pb.RegisterCopiesServer(s.server, s.copies)
	copyMetrics(port.Registerer(cfg.Name), s.copies)
	s.memory = memoryWatch{plan: cfg.plan, memory: cfg.Memory, store: store, log: s.log}
	s.memory.register(port, cfg.Name)
	s.follower = documents.New(cfg.Name, func() string { return index.Database(store.Slices()) }, s.balancer, s.lists, s.log)
	documents.Watch(port.Registerer(cfg.Name), s.lists, s.follower)
	return s, nil
}

// Name returns the slave's name as the lines that it prints have it.
func (s *Slave) Name() string { return shortName(s.cfg.Name) }

// Address returns the address at which masters reach the slave.
func (s *Slave) Address() string {
	if s.cfg.Advertise != "" {
		return s.cfg.Advertise
	}
	return s.listener.Addr().String()
}

// Local returns the slave for masters in this process.
func (s *Slave) Local() *shardserver.Local { return s.shard.Local() }

// State returns the state of the slave's load proxy.
func (s *Slave) State() loadproxy.State { return s.proxy.State() }

// Close releases what New opened. Call it if Run is never called.
func (s *Slave) Close() {
	_ = s.listener.Close()
	s.balancer.close()
	s.threads.Close()
	s.tracer.Close()
}

// adopt serves as the shardserver.Adopter.
func (s *Slave) adopt(balancer string) (name string, err error) {
	if err := s.balancer.adopt(balancer); err != nil {
		return "", err
	}
	s.log.Info("adopted", "balancer", balancer)
	return s.cfg.Name, nil
}

// Run serves until ctx is done.
func (s *Slave) Run(ctx context.Context) error {
	defer s.threads.Close()
	defer s.balancer.close()
	defer s.tracer.Close()
	defer s.shard.Close()
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, s.shard.Goodbye)()
	group.Go(func() error { return ports.ServeGRPC(ctx, s.server, s.listener) })
	group.Go(func() error { return s.proxy.Run(ctx) })
	group.Go(func() error { return s.copies.Run(ctx) })
	group.Go(func() error { s.memory.run(ctx); return nil })
	group.Go(func() error { s.follower.Run(ctx); return nil })
	group.Go(func() error { s.warm(ctx); return nil })
	return group.Wait()
}

// Ready returns why the slave cannot do all of its work. It may be ready without a balancer.
func (s *Slave) Ready() []string {
	state := s.proxy.State()
	if text := s.copier.describe(); text != "" {
		return []string{text}
	}
	if state.Refused {
		return []string{s.cfg.Name + " is refused: " + state.Trouble}
	}
	if state.CaughtUp && state.WhyIncomplete == "" && !loadproxy.OnlyFilling(s.store.Slices()) {
		return nil
	}
	if state.Repair != "" {
		return []string{s.cfg.Name + ": " + state.Repair}
	}
	if state.Recheck != "" {
		return []string{s.cfg.Name + ": " + state.Recheck}
	}
	why := []string{s.cfg.Name + " does not yet hold all that it should"}
	if s.cfg.aside != "" {
		why[0] += ": its store could not be opened and is set aside in " + s.cfg.aside
	}
	if state.Trouble != "" {
		why = append(why, state.Trouble)
	}
	return why
}
