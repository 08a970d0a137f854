// Package balancer is the process that decides which slave keeps which groups.
//
// A Balancer drives the mapper of package balance, a state machine, with a database, a clock and
// the calls of slaves, masters and distributors; it may have a distributor of its own. A Host runs
// one Balancer after another at one address. The admin port shows figures from a survey of the
// model.
package balancer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/mapper"
	"adshard/balance/maps"
	"adshard/balance/strategy"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/admission"
	"adshard/internal/node/control"
	"adshard/internal/node/control/indatabase"
	"adshard/internal/node/distributor"
	"adshard/internal/node/documentserver"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/node/history"
	"adshard/internal/node/identity"
	"adshard/internal/node/survey"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// Balancer drives the mapper of package balance with a database, a clock and the
// calls of slaves, masters and distributors. With Config.Distribute it has a
// distributor of its own. Make it with New and serve it with Serve, which runs it.
type Balancer struct {
	pb.UnimplementedBalancerServer
	cfg         Config
	order       balance.Order
	data        identity.Dataset
	db          backend.Store
	root        *slog.Logger // log without the epoch
	log         *slog.Logger
	store       control.Store
	leadership  *leadership
	certifier   *certifier
	health      *health.Tracker
	started     time.Time // when its term began
	loaded      time.Time // when it had all items, and slaves could register
	feed        feed.Follower
	distributor *distributor.Distributor // nil if distributors are processes of their own

	mu            sync.Mutex // guards the fields below and the mapper
	mapper        *mapper.Mapper
	slaves        map[string]*slaveInfo
	masterReports masterReports
	distributors  distributors
	quanta        recentQuanta
	published     *balance.Model // the model of the last broadcast of changed
	changed       wait.Broadcast // sent with each quantum and each published model
	asked         []balance.Certify
	discards      chan balance.Discard
	askedMore     wait.Broadcast // sent when the mapper asks for certificates
	surveyed      *survey.Survey // newest survey, or nil
	steering      strategyEvents

	names     groupNames
	refusals  admission.Refusals
	history   history.Day
	documents *documentserver.Server

	choosing sync.Mutex // serializes changes of the strategy, including pauses

	restarts   *rate.Limiter // bounds how often reported epochs make the balancer start over; handed on to the successor
	succession *succession

	saves chan maps.SaveState // the mapper has at most one save under way
	news  chan struct{}       // full if the mapper's next deadline may have moved earlier
}

// slaveInfo is the last report of a slave.
type slaveInfo struct {
	address, incarnation string
	instance             uint64 // of its directory
	copy                 bool   // the directory was another slave's when it registered (copied)
	words                string // the version of the words of its program; "" if it names none
	seen                 time.Time
	position             balance.Position
	held                 uint64 // the clock from which copies of its store need the log, or 0 if there are no copies
	state                *pb.SlaveState
	slices               int // number of slices in its table
}

// New returns a balancer that leads its cluster from now on; the cluster must have no other
// balancer. It returns once the balancer can answer slaves. The caller closes db after Run has
// returned. Errors: fault.Invalid for the configuration, fault.Conflict if another balancer runs or
// takes over meanwhile, and those of the database.
func New(ctx context.Context, cfg Config, db backend.Store, log *slog.Logger) (*Balancer, error) {
	order, err := cfg.prepare(ctx, db)
	if err == nil && cfg.Control != "" {
		err = fault.Field("balancer", "control", "%s is for balancers that are processes of their own", cfg.Control)
	}
	if err != nil {
		return nil, err
	}
	store := indatabase.New(db, cfg.StateKey, control.DefaultTimes())
	term, err := takeAlone(ctx, store, control.Candidate{Address: cfg.Advertise}, cfg.Credentials.To("", access.Balancer)...)
	if err != nil {
		return nil, err
	}
	return lead(ctx, cfg, order, db, store, term, nil, log)
}

// prepare checks the configuration, and sets and returns the cluster's order of keys.
func (c *Config) prepare(ctx context.Context, db backend.Store) (balance.Order, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	if err := c.checkPlace(ctx, db); err != nil {
		return 0, err
	}
	order, err := identity.OrderOf(ctx, db, c.StateKey, c.Order, identity.DefaultOrder)
	if err == nil {
		err = strategy.CheckOrder(c.Strategy, order)
	}
	c.Order = order.String() // for the next balancer too, whatever state the database is restored to
	return order, err
}

// lead makes the balancer of a term. `all` has the items of the database, which the balancer keeps;
// if it is nil, lead reads them.
func lead(ctx context.Context, cfg Config, order balance.Order, db backend.Store, store control.Store, term control.Term, items *items, log *slog.Logger) (*Balancer, error) {
	data, err := identity.Of(ctx, db, order)
	if err != nil {
		return nil, err
	}
	b := &Balancer{
		cfg: cfg, order: order, data: data, db: db, store: store, leadership: &leadership{term, order}, root: log, log: log.With("epoch", term.Epoch()),
		started: time.Now(), slaves: make(map[string]*slaveInfo), distributors: make(distributors),
		health: cfg.tracker(), saves: make(chan maps.SaveState, 1), discards: make(chan balance.Discard, maxDiscards), news: make(chan struct{}, 1),
		restarts: rate.NewLimiter(rate.Every(restartEvery), restartBurst), documents: documentserver.New(db, data.Database, log),
	}
	b.succession = &succession{leadership: b.leadership, log: b.log, begun: make(chan struct{})}
	b.certifier = newCertifier(b, min(2, cfg.Workers))
	var kept sync.WaitGroup
	defer kept.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	kept.Go(func() { _ = term.KeepAlive(ctx, func(error) {}) }) // loading may take longer than a lease; afterwards Run keeps the lease
	err = b.load(ctx, items)
	b.loaded = time.Now()
	if err == nil {
		b.noteSettings(ctx)
	}
	return b, err
}

// load reads the saved model and, if `all` is nil, all items.
func (b *Balancer) load(ctx context.Context, all *items) error {
	if err := b.cfg.checkPlace(ctx, b.db); err != nil {
		return err
	}
	state, err := b.leadership.model(ctx)
	if err == nil && b.cfg.Control != "" {
		state, err = b.settle(ctx, state)
	}
	if err != nil {
		return err
	}
	if b.data.Timeline, err = b.leadership.timeline(ctx, state != nil); err != nil {
		return fmt.Errorf("the timeline of the slice map: %w", err)
	}
	begin := time.Now()
	if all == nil {
		if all, err = readItems(ctx, b.db, b.order, b.cfg.Weights); err != nil {
			return err
		}
	}
	index, at := all.index, all.at
	use, byCommand, err := b.strategy(ctx)
	if err != nil {
		return err
	}
	paused, err := b.leadership.paused(ctx)
	if err != nil {
		return err
	}
	if err := (recorder{b}).load(ctx); err != nil {
		return err
	}
	b.steering.options, b.steering.byCommand = use.Options, byCommand
	cfg, err := b.cfg.mapper(b.Epoch(), b.order, use)
	if err != nil {
		return err
	}
	cfg.Began = b.started
	if b.mapper, err = mapper.New(cfg, index, state); err != nil {
		return fmt.Errorf("%w; with another state_key (adshard up: another --data) a new plan is made", err)
	}
	b.mapper.Pause(paused)
	b.feed = feed.Follower{DB: b.db, Order: b.order, Log: b.log, Health: b.health, At: at}
	if b.cfg.Distribute {
		b.distributor = distributor.New(ownDistributor, "", b.cfg.DataConfig, b.order, b.db, b, b.health, b.log)
		b.distributor.Begin(b.data.Database, copyOf(index), at)
	}
	b.log.Info("items loaded", "items", index.Len(), "clock", at.Clock, "planned", state != nil, "paused", paused,
		"took", time.Since(begin).Round(time.Millisecond))
	return b.step(func() error { b.mapper.Loaded(b.now(), at.Clock); return nil })
}

// copyOf copies an index. Mapper and distributor each have their own, since they apply changes at
// different times.
func copyOf(index *balance.Index) *balance.Index {
	out := &balance.Index{}
	index.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool { out.Put(k, w); return true })
	return out
}

// Epoch returns the balancer's epoch.
func (b *Balancer) Epoch() uint64 { return b.leadership.Epoch() }

// Run follows the database, plans and saves. It returns nil when ctx is done. Errors:
// *control.Replaced if another balancer has taken over, errSucceeded if another is to start in this
// one's place, and what else keeps it from going on.
func (b *Balancer) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.follow(ctx) })
	group.Go(func() error { return b.tick(ctx) })
	group.Go(func() error { return b.persist(ctx) })
	group.Go(func() error { return b.keepLease(ctx) })
	group.Go(func() error { return b.housekeep(ctx) })
	group.Go(func() error { return recorder{b}.run(ctx) })
	group.Go(func() error { return vocabularyOf(b).Run(ctx) })
	group.Go(func() error { return b.documents.Run(ctx) })
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-b.succession.begun:
			return errSucceeded
		}
	})
	for range certifiers {
		group.Go(func() error { return b.certifyAsked(ctx) })
	}
	group.Go(func() error { return b.discarder(ctx) })
	if b.distributor != nil {
		group.Go(func() error { return b.distributor.Run(ctx) })
	}
	err := group.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// now returns the mapper's time.
func (b *Balancer) now() time.Duration { return time.Since(b.started) }

// step changes the mapper under the lock and passes on the messages that result.
func (b *Balancer) step(change func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := change()
	out := b.mapper.Out()
	if out.Save != nil {
		b.saves <- *out.Save // never blocks: there is one save at a time
	}
	for _, t := range out.Troubles {
		b.log.Warn("the mapper reports trouble", "err", t)
	}
	for _, e := range out.Events {
		level := slog.LevelInfo
		if e.Step {
			level = slog.LevelDebug
		}
		b.log.Log(context.Background(), level, "balancing", "event", e.String())
		b.steering.add(e)
	}
	for _, d := range out.Discards {
		select {
		case b.discards <- d:
		default: // the mapper repeats the order
		}
	}
	if len(out.Certify) > 0 {
		b.asked = append(b.asked, out.Certify...)
		b.askedMore.Notify()
	}
	for _, q := range out.Quanta {
		b.quanta.add(q)
		if !q.Empty() {
			b.log.Debug("quantum", "number", q.Number, "clock", q.Clock, "view", q.View, "ops", len(q.Ops))
		}
	}
	if m := b.mapper.Published(); len(out.Quanta) > 0 || m != b.published {
		b.published = m
		b.changed.Notify()
	}
	select {
	case b.news <- struct{}{}:
	default:
	}
	return err
}
