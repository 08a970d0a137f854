// Package up runs a whole cluster on one machine, in one process or in a process
// for each part.
package up

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/balancer"
	"adshard/internal/node/collector"
	"adshard/internal/node/config"
	"adshard/internal/node/database"
	"adshard/internal/node/distributor"
	"adshard/internal/node/fanout"
	"adshard/internal/node/home"
	"adshard/internal/node/identity"
	"adshard/internal/node/master"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/overload"
	"adshard/internal/node/ports"
	"adshard/internal/node/scorers"
	"adshard/internal/node/slave"
)

// loopback is the address on which most parts of a cluster on one machine listen.
const loopback = "127.0.0.1:0"

// Run runs a whole cluster on this machine until ctx is done: a balancer, slaves and a master. They run in this process
// or, with Processes, in child processes, with real gRPC between them. In this process, the master asks the slaves
// directly if Transport says so.
//
// When the parts listen, Run prints on `out` "slave N listening ADDR" and "distributor N listening ADDR" ("slave N pid P
// listening ADDR" for a child, and "master pid P admin http://ADDR" for the master's admin port), then "collector listening
// http://ADDR", "admin http://ADDR" and "grpc ADDR". When a complete answer is possible, it prints "ready http://ADDR"
// as the last line.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	asked := cfg.Slaves
	if err := cfg.CheckStart(ctx, log); err != nil {
		return err
	}
	if asked == 0 {
		log.Info("as many slaves as there are stores, or one for each replica, since a query costs a call for each shard; --slaves chooses", "slaves", cfg.Slaves)
	}
	if !cfg.Processes {
		own, err := cfg.Settings.Open(access.Balancer, "", log)
		if err != nil {
			return err
		}
		cfg.Credentials = own
	}
	db, err := database.OpenTelling(ctx, cfg.DB, func(text string) { log.Warn(text) })
	if err != nil {
		return err
	}
	stores, err := home.Open(ctx, cfg.stores(), db)
	if err == nil {
		if err = cfg.settleOrder(ctx, stores, db); err != nil {
			stores.Release(log)
		}
	}
	if cfg.Processes || err != nil {
		_ = db.Close() // the balancer's process will open it
	}
	switch {
	case err != nil:
		return err
	case cfg.Processes:
		ports.WarnExposed([]string{cfg.stores().Path}, log) // the parts warn of everything else
		return runProcesses(ctx, cfg, stores, out, log)
	}
	defer db.Close()
	started := false
	defer func() {
		if !started {
			stores.Release(log)
		}
	}()
	u := &up{cfg: cfg, home: stores, db: db, log: log}
	defer u.close()
	if err := u.start(ctx); err != nil {
		return err
	}
	started = true
	return u.run(ctx, out)
}

// up is a cluster that runs in one process.
type up struct {
	cfg  Config
	home *home.Dir
	db   backend.Store
	log  *slog.Logger

	port         *ports.Ports
	listener     net.Listener // the balancer's listener
	balancer     *balancer.Host
	distributors []*distributor.Process
	stores       []barrels.Store
	slaves       []*slave.Slave
	leftOut      []string // slaves whose stores cannot be opened, with the reasons
	plan         memlimit.Plan
	models       *scorers.File // for the master and all slaves
	master       *master.Master
	collector    *collector.Collector // nil if there is none
}

// othersHeap is the part of Go's heap for the master, the balancer and the distributors; if they need more, garbage is
// collected more often.
const othersHeap = 512 << 20

// start opens and listens, and so everything that can fail fails here. The ports for users come first, so that a port
// in use is reported at once.
func (u *up) start(ctx context.Context) (err error) {
	if u.port, err = ports.Open(u.cfg.Credentials, u.cfg.Admin, u.cfg.AdminHosts...); err != nil {
		return err
	}
	if u.listener, err = ports.Listen(u.port.Sockets.Peers, "listen", loopback); err != nil {
		return err
	}
	address := u.listener.Addr().String()
	if u.models, err = scorers.Open(u.cfg.Scorer, u.log); err != nil {
		return err
	}
	own := u.cfg.master(address)
	own.Models = u.models
	if u.master, err = master.New(own, u.port, u.local(), u.log); err != nil {
		return err
	}
	if u.plan, err = memlimit.Divide(u.cfg.memory(), u.cfg.Slaves); err != nil {
		return err
	}
	u.plan.Heap += othersHeap
	u.plan.Begin()
	config.SpareProcessor()
	gate := overload.New(overload.ForSlave(slave.DefaultConfig().MaxInFlight * u.cfg.Slaves))
	configs := make([]slave.Config, u.cfg.Slaves)
	for i := range configs {
		cfg := u.cfg.slave(i, u.home, address)
		cfg.Models = u.models
		configs[i] = cfg.Within(u.plan)
	}
	if err := u.newSlaves(configs, gate); err != nil {
		return err
	}
	for i := range u.cfg.Distributors {
		d, err := distributor.NewProcess(ctx, u.cfg.distributor(i, u.home, address), u.db, u.port, u.log)
		if err != nil {
			return err
		}
		u.distributors = append(u.distributors, d)
	}
	if u.cfg.Collector != "" {
		if u.collector, err = collector.New(ctx, u.cfg.collector(u.home), u.db, u.port, u.log); err != nil {
			return err
		}
	}
	balancing := u.cfg.balancer(u.home)
	balancing.Advertise = address
	b, err := balancer.New(ctx, balancing, u.db, u.log.With("node", "balancer"))
	if err == nil {
		u.balancer = balancer.NewHost(b)
		balancer.RegisterMetrics(u.port.Registerer("balancer"), u.balancer)
		u.port.Register("up")
		u.port.RegisterState("up", u.cfg.state(), u.log)
	}
	return err
}

// newSlaves opens the stores of slaves and makes the slaves listen. It leaves out slaves whose stores cannot be opened.
func (u *up) newSlaves(configs []slave.Config, gate *overload.Gate) error {
	stores, err := u.openStores(configs)
	if err != nil {
		return err
	}
	for i, store := range stores {
		if store == nil {
			continue // the slave is left out
		}
		s, err := slave.New(configs[i], store, gate, u.port, u.log)
		if err != nil {
			return err
		}
		u.slaves = append(u.slaves, s)
	}
	return nil
}

// local returns how the master finds the slaves in this process, or nil if it asks them over the wire. Call it when all
// slaves listen.
func (u *up) local() func(address string) fanout.Local {
	if u.cfg.Transport != TransportDirect {
		return nil
	}
	return func(address string) fanout.Local {
		for _, s := range u.slaves {
			if s.Address() == address {
				return s.Local()
			}
		}
		return nil
	}
}

// run serves until ctx is done or a part cannot continue.
func (u *up) run(ctx context.Context, out io.Writer) error {
	for _, s := range u.slaves {
		fmt.Fprintf(out, "slave %s listening %s\n", s.Name(), s.Address())
	}
	for i, d := range u.distributors {
		fmt.Fprintf(out, "distributor %d listening %s\n", i, d.Address())
	}
	if u.collector != nil {
		fmt.Fprintf(out, "collector listening %s\n", u.collector.URL())
	}
	u.port.Print(out)
	u.master.Print(out)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return u.balancer.Serve(ctx, u.listener) })
	for _, d := range u.distributors {
		group.Go(func() error { return d.Run(ctx) })
	}
	for _, s := range u.slaves {
		group.Go(func() error { return s.Run(ctx) })
	}
	if u.collector != nil {
		group.Go(func() error { return u.collector.Run(ctx) })
	}
	group.Go(func() error { return u.master.Run(ctx) })
	group.Go(func() error { u.plan.Hold(ctx); return nil })
	group.Go(func() error { u.models.Run(ctx); return nil })
	group.Go(func() error { return u.port.Serve(ctx, u.ready, u.balancer.AdminHandler, u.log) })
	group.Go(func() error { u.master.Announce(ctx, out); return nil })
	return group.Wait()
}

// ready returns why the cluster cannot do all of its work.
func (u *up) ready() []string {
	why := append(u.balancer.Ready(), u.master.Ready()...)
	why = append(why, u.leftOut...)
	for _, s := range u.slaves {
		why = append(why, s.Ready()...)
	}
	if u.collector != nil {
		why = append(why, u.collector.Ready()...)
	}
	return why
}

// close releases what start opened. Closing again what run has closed does no harm.
func (u *up) close() {
	if u.port != nil {
		u.port.Close()
	}
	if u.listener != nil {
		_ = u.listener.Close()
	}
	if u.master != nil {
		u.master.Close()
	}
	if u.collector != nil {
		u.collector.Close()
	}
	for _, d := range u.distributors {
		d.Close()
	}
	for _, s := range u.slaves {
		s.Close()
	}
	for _, store := range u.stores {
		slave.CloseStore(store, u.log)
	}
}

// stores returns the configuration of the directory of stores.
func (c *Config) stores() home.Config {
	s := home.Config{Path: c.Data, Slaves: c.Slaves, DB: c.DB, DiscardDataOf: c.DiscardDataOf}
	if c.Barrels != "" {
		s.Path, s.Built = c.Barrels, true
	}
	return s
}

// settleOrder sets the order of keys: the order of an existing cluster, or that in which stores were built offline, or
// that of a new cluster.
func (c *Config) settleOrder(ctx context.Context, h *home.Dir, db backend.Store) error {
	fresh := identity.DefaultOrder
	if c.Barrels != "" {
		fresh = balance.ByOwner // for stores built before their order was recorded
	}
	if built, ok := h.Order(); ok {
		if fresh = built; c.Order != "" && c.Order != built.String() {
			return fault.Newf(fault.Conflict, "up",
				"the stores in %s were built in the order %s: start without --order, or build them with --order %s", c.stores().Path, built, c.Order)
		}
	}
	order, err := identity.OrderOf(ctx, db, h.StateKey(), c.Order, fresh)
	if err != nil {
		return err
	}
	c.Order = order.String()
	return strategy.CheckOrder(c.Strategy, order)
}

// master, slave, balancer, distributor and collector return the configurations of the cluster's parts.
func (c *Config) master(balancer string) master.Config {
	m := master.DefaultConfig()
	m.HTTP, m.GRPC, m.Admin, m.AdminHosts, m.Balancer = c.HTTP, c.GRPC, "", c.AdminHosts, balancer
	m.Lexicon, m.Profile, m.Reserve, m.Scorer = c.Lexicon, c.Profile, c.Reserve, c.Scorer
	m.Timeout, m.MaxInFlight, m.Explain, m.RequestIDs, m.UnknownLocation = c.Timeout, c.MaxInFlight, c.Explain, c.RequestIDs, c.UnknownLocation
	m.SlowQueries, m.QueryLog, m.Traces = c.SlowQueries, c.QueryLog, c.Traces
	m.QueryTLS, m.QueryInsecure, m.Tokens = c.QueryTLS, c.QueryInsecure, c.Tokens
	m.EventTokens, m.Languages = c.Collector != "", c.Languages
	return m
}

func (c *Config) slave(i int, h *home.Dir, balancer string) slave.Config {
	s := slave.DefaultConfig()
	s.Name = home.StoreName(i)
	s.Listen, s.Admin, s.Balancer, s.Scorer = loopback, "", balancer, c.Scorer
	s.Languages = c.Languages
	s.Dir, s.Memory, s.Traces, s.RocksDBStatistics = h.Store(i), c.memory()/config.Size(c.Slaves), c.Traces, c.RocksDBStatistics
	return s
}

func (c *Config) balancer(h *home.Dir) balancer.Config {
	b := balancer.DefaultConfig()
	b.DB, b.Listen, b.Admin, b.AdminHosts, b.Slaves, b.Replicas, b.Strategy = c.DB, loopback, c.Admin, c.AdminHosts, c.Slaves, c.Replicas, c.Strategy
	b.Interval, b.StrategyOptions, b.Tokens, b.Insecure, b.DBInsecure = c.Interval, c.StrategyOptions, c.Tokens, c.Insecure, c.DBInsecure
	b.Order, b.StateKey, b.Distribute, b.DiscardDataOf, b.Currency = c.Order, h.StateKey(), c.Distributors == 0, c.DiscardDataOf, c.Currency
	if c.Collector != "" {
		b.Events = collector.EventsOf(c.DB)
	}
	b.Languages = c.Languages
	if c.linger > 0 {
		b.Linger = c.linger
	}
	return b
}

func (c *Config) distributor(i int, h *home.Dir, balancer string) distributor.Config {
	d := distributor.DefaultConfig()
	d.Name, d.DB, d.Listen, d.Admin, d.Balancer = fmt.Sprint("distributor-", i), c.DB, loopback, "", balancer
	d.Order, d.StateKey, d.DBInsecure, d.Languages = c.Order, h.StateKey(), c.DBInsecure, c.Languages
	return d
}

func (c *Config) collector(h *home.Dir) collector.Config {
	o := collector.DefaultConfig()
	o.DB, o.HTTP, o.Admin, o.StateKey = c.DB, c.Collector, "", h.StateKey()
	o.AdoptEvents, o.EventOrigins = c.AdoptEvents, c.EventOrigins
	o.KeepEvents, o.Quality, o.LearnEvery = c.KeepEvents, c.Quality, c.LearnEvery
	o.QueryTLS, o.QueryInsecure, o.DBInsecure = c.QueryTLS, c.QueryInsecure, c.DBInsecure
	return o
}
