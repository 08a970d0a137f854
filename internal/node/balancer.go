package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/fault"
	"adshard/schema/pb"
)

// Balancer is the process part that plans and hands out node data: it drives
// the cores of package balance with a database, a clock and the calls of
// slaves and masters. Make it with NewBalancer, serve it with Serve or
// pb.RegisterBalancerServer, and let it work with Run.
type Balancer struct {
	pb.UnimplementedBalancerServer
	pb.UnimplementedDistributorServer
	cfg      BalancerConfig
	order    balance.Order
	origin   string // of the data that it hands out
	db       backend.Store
	log      *slog.Logger
	tenure   *tenure
	builders *builders
	started  time.Time
	work     chan struct{} // a token for each build at a time

	mu       sync.Mutex // guards what follows, and the cores
	mapper   *balance.Mapper
	dist     *balance.Distributor[*pb.NodeData]
	slaves   map[string]*slaveNote
	changed  chan struct{} // closed and made anew when something may be ready
	tasks    []task
	measured *measured // newest; nil: none
	made     uint64    // buckets, when last somebody was woken

	fed uint64 // clock of the newest change given to the cores; follow's alone

	saves chan balance.SaveState // the mapper has one under way at most
	poke  chan struct{}          // there are tasks
	news  chan struct{}          // changes were given to the mapper
}

// task is reading or building that a core asked for.
type task func(ctx context.Context) error

// slaveNote is what a slave last said of itself.
type slaveNote struct {
	address, incarnation string
	seen                 time.Time
	state                *pb.SlaveState
}

// NewBalancer takes the next epoch in the database and loads all items; it
// returns once it can answer slaves. db stays the caller's to close, after Run
// has ended. Errors: fault.Invalid for the configuration, fault.Conflict when
// another balancer takes over meanwhile, those of the database.
func NewBalancer(ctx context.Context, cfg BalancerConfig, db backend.Store, log *slog.Logger) (*Balancer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	order, _ := balance.ParseOrder(cfg.Order)
	t, err := takeTenure(ctx, db, cfg.StateKey, order)
	if err != nil {
		return nil, err
	}
	origin, err := originOf(ctx, db, order)
	if err != nil {
		return nil, err
	}
	b := &Balancer{
		cfg: cfg, order: order, origin: origin, db: db, tenure: t, log: log.With("epoch", t.epoch),
		builders: newBuilders(order, cfg.Workers), started: time.Now(), work: make(chan struct{}, cfg.Workers),
		slaves: make(map[string]*slaveNote), changed: make(chan struct{}),
		saves: make(chan balance.SaveState, 1), poke: make(chan struct{}, 1),
		news: make(chan struct{}, 1),
	}
	return b, b.load(ctx)
}

// load reads the saved model and the index of all items.
func (b *Balancer) load(ctx context.Context) error {
	state, err := b.tenure.load(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	index := &balance.Index{}
	clock, err := readItems(ctx, b.db, b.order, b.cfg.Weights, index)
	if err != nil {
		return fmt.Errorf("load the items: %w", err)
	}
	chosen, err := strategy.Named(b.cfg.Strategy)
	if err != nil {
		return err
	}
	b.mapper, err = balance.NewMapper(balance.MapperConfig{
		Epoch: b.tenure.epoch, Order: b.order, Nodes: b.cfg.Slaves, Strategy: chosen, Limits: limits(b.cfg.Limits),
		Pace: balance.DefaultPace, Beat: balance.DefaultBeat, Interval: b.cfg.Interval,
	}, index, state)
	if err != nil {
		return fmt.Errorf("%w; with another state_key (adshard up: another --data) a plan is made anew", err)
	}
	b.dist = balance.NewDistributor[*pb.NodeData](balance.DistributorConfig{
		Epoch: b.tenure.epoch, BucketBytes: b.cfg.BucketBytes, NodeBytes: b.cfg.NodeBytes, Ahead: b.cfg.Ahead,
	}, index, clock)
	b.fed = clock
	b.log.Info("items loaded", "items", index.Len(), "clock", clock, "planned", state != nil,
		"took", time.Since(begin).Round(time.Millisecond))
	return b.step(func() error { b.mapper.Loaded(b.now(), clock); return nil })
}

// readItems puts all items of a snapshot into index and returns its clock.
func readItems(ctx context.Context, db backend.Feed, order balance.Order, w WeightsConfig, index *balance.Index) (uint64, error) {
	snap, err := db.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	for g, err := range snap.Groups(ctx) {
		if err != nil {
			return 0, err
		}
		key, err := order.Key(g.AdvertiserID, g.ID)
		if err != nil {
			return 0, fault.New(fault.Invalid, "balancer: load", err)
		}
		index.Put(key, w.weight(g.Keywords, g.Ads, g.Lexicon))
	}
	return snap.Clock(), nil
}

func limits(list map[string]LimitConfig) map[string]balance.Limit {
	out := make(map[string]balance.Limit, len(list))
	for name, l := range list {
		out[name] = balance.Limit{Share: l.Share, Weight: l.Weight}
	}
	return out
}

// Epoch returns the balancer's epoch.
func (b *Balancer) Epoch() uint64 { return b.tenure.epoch }

// Run follows the database, builds and saves until ctx is over (nil) or it
// cannot go on: fault.Conflict when another balancer has taken over.
func (b *Balancer) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.follow(ctx) })
	group.Go(func() error { return b.beat(ctx) })
	group.Go(func() error { return b.persist(ctx) })
	group.Go(func() error { return b.housekeep(ctx) })
	group.Go(func() error { return b.dispatch(ctx, group) })
	err := group.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// now is the cores' time.
func (b *Balancer) now() time.Duration { return time.Since(b.started) }

// step changes the cores under the lock and takes their messages to where they
// go.
func (b *Balancer) step(change func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := change()
	out := b.mapper.Out()
	if out.Save != nil {
		b.saves <- *out.Save // never waits: the next comes after this one was saved
	}
	for _, t := range out.Troubles {
		b.log.Warn("the mapper reports trouble", "err", t)
	}
	wake := false
	for _, q := range out.Quanta {
		err = errors.Join(err, b.dist.Quantum(q))
		if !q.Empty() {
			wake = true
			b.log.Info("quantum", "number", q.Number, "clock", q.Clock, "view", q.View,
				"ops", len(q.Ops), "max_over_mean", b.mapper.Report().Proposal.Expected.Ratio())
		}
	}
	b.collect(wake)
	return err
}

// collect takes over what the distributor wants done, and wakes those who wait
// when there is something for them.
func (b *Balancer) collect(wake bool) {
	w := b.dist.Work()
	for _, job := range w.Builds {
		b.tasks = append(b.tasks, func(ctx context.Context) error { return b.build(ctx, job) })
	}
	for _, job := range w.Fetches {
		b.tasks = append(b.tasks, func(ctx context.Context) error { return b.fetch(ctx, job) })
	}
	if len(b.tasks) > 0 {
		select {
		case b.poke <- struct{}{}:
		default:
		}
	}
	if made := b.dist.Made(); wake || made != b.made {
		b.made = made
		close(b.changed)
		b.changed = make(chan struct{})
	}
}
