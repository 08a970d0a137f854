// Package balancer is the process that decides which slave keeps which groups.
//
// A Balancer drives the mapper of package balance, a state machine, with a
// database, a clock and the calls of slaves, masters and distributors; it may
// have a distributor of its own. A Host keeps one Balancer after another running
// behind one address. What the admin port shows is made from a survey of the model.
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
	"adshard/balance/strategy"
	"adshard/internal/node/distributor"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/node/identity"
	"adshard/internal/node/survey"
	"adshard/internal/node/truth"
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
	tenure      *tenure
	truth       *truth.Certifier
	health      *health.Tracker
	started     time.Time
	feed        feed.Follower
	distributor *distributor.Distributor // nil: distributors run in processes of their own

	mu           sync.Mutex // guards what follows, and the mapper
	mapper       *balance.Mapper
	slaves       map[string]*slaveInfo
	distributors distributors
	quanta       ring
	published    *balance.Model // when changed was last sent
	changed      wait.Broadcast // sent with each quantum and published model
	asked        []balance.Certify
	discards     chan balance.Discard
	askedMore    wait.Broadcast // sent when certificates are asked for
	surveyed     *survey.Survey // newest; nil: none
	steering     steering

	choosing sync.Mutex // serializes changes of the strategy

	restarts  *rate.Limiter // bounds how often reported epochs make the balancer start over; the successor keeps it
	ending    sync.Mutex    // locked while this balancer prepares to end
	succeeded chan struct{} // closed when another balancer is to take this one's place

	saves chan balance.SaveState // the mapper has one under way at most
	news  chan struct{}          // full: the mapper's next deadline may be sooner
}

// slaveInfo is what a slave last reported.
type slaveInfo struct {
	address, incarnation string
	seen                 time.Time
	position             balance.Position
	held                 uint64 // the clock that copies of its store need the log from; 0: there are none
	state                *pb.SlaveState
	slices               int // of its table
}

// New takes the next epoch in the database and loads all items; it
// returns once it can answer slaves. The caller closes db after Run has returned. Errors: fault.Invalid for the configuration, fault.Conflict when
// another balancer runs or takes over meanwhile, those of the database.
func New(ctx context.Context, cfg Config, db backend.Store, log *slog.Logger) (*Balancer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	order, err := identity.OrderOf(ctx, db, cfg.StateKey, cfg.Order, identity.DefaultOrder)
	if err != nil {
		return nil, err
	}
	if err := strategy.CheckOrder(cfg.Strategy, order); err != nil {
		return nil, err
	}
	cfg.Order = order.String() // for the next one, too, whatever the database is restored to
	t, err := takeTenure(ctx, db, cfg.StateKey, cfg.Advertise, order)
	if err != nil {
		return nil, err
	}
	data, err := identity.Of(ctx, db, order)
	if err != nil {
		return nil, err
	}
	b := &Balancer{
		cfg: cfg, order: order, data: data, db: db, tenure: t, root: log, log: log.With("epoch", t.epoch),
		started: time.Now(), slaves: make(map[string]*slaveInfo), distributors: make(distributors),
		truth:  &truth.Certifier{Order: order, DB: db, Builders: truth.NewBuilders(order, min(2, cfg.Workers))},
		health: health.New(), saves: make(chan balance.SaveState, 1), discards: make(chan balance.Discard, maxDiscards), news: make(chan struct{}, 1),
		succeeded: make(chan struct{}), restarts: rate.NewLimiter(rate.Every(restartEvery), restartBurst),
	}
	return b, b.load(ctx)
}

// load reads the saved model and the index of all items.
func (b *Balancer) load(ctx context.Context) error {
	state, err := b.tenure.load(ctx)
	if err != nil {
		return err
	}
	if b.data.Timeline, err = b.tenure.timeline(ctx, state != nil); err != nil {
		return fmt.Errorf("the timeline of the slice map: %w", err)
	}
	begin := time.Now()
	index := &balance.Index{}
	at, err := feed.ReadItems(ctx, b.db, b.order, b.cfg.Weights, index)
	if err != nil {
		return fmt.Errorf("load the items: %w", err)
	}
	use, byCommand, err := b.strategy(ctx)
	if err != nil {
		return err
	}
	b.steering.options, b.steering.byCommand = use.Options, byCommand
	cfg, err := b.cfg.mapper(b.tenure.epoch, b.order, use)
	if err != nil {
		return err
	}
	if b.mapper, err = balance.NewMapper(cfg, index, state); err != nil {
		return fmt.Errorf("%w; with another state_key (adshard up: another --data) a new plan is made", err)
	}
	b.feed = feed.Follower{DB: b.db, Order: b.order, Log: b.log, Health: b.health, At: at}
	if b.cfg.Distribute {
		b.distributor = distributor.New(ownDistributor, "", b.cfg.DataConfig, b.order, b.db, b, b.health, b.log)
		b.distributor.Begin(b.data.Database, copyOf(index), at)
	}
	b.log.Info("items loaded", "items", index.Len(), "clock", at.Clock, "planned", state != nil,
		"took", time.Since(begin).Round(time.Millisecond))
	return b.step(func() error { b.mapper.Loaded(b.now(), at.Clock); return nil })
}

// copyOf copies an index: mapper and distributor each have one, as of the last
// change that each has applied.
func copyOf(index *balance.Index) *balance.Index {
	out := &balance.Index{}
	index.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool { out.Put(k, w); return true })
	return out
}

// Epoch returns the balancer's epoch.
func (b *Balancer) Epoch() uint64 { return b.tenure.epoch }

// Run follows the database, plans and saves until ctx is done (nil) or it cannot
// continue: fault.Conflict when another balancer has taken over, errSucceeded when
// another is to start in this one's place.
func (b *Balancer) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.follow(ctx) })
	group.Go(func() error { return b.tick(ctx) })
	group.Go(func() error { return b.persist(ctx) })
	group.Go(func() error { return b.housekeep(ctx) })
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-b.succeeded:
			return errSucceeded
		}
	})
	for range certifiers {
		group.Go(func() error { return b.certifier(ctx) })
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

// step changes the mapper under the lock and passes its messages on.
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
		default: // the mapper repeats it
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
