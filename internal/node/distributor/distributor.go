// Package distributor prepares node data for slaves: in a process of its own, or
// inside a balancer.
//
// A Distributor drives the distributor of package balance, a state machine: it
// follows the database and the balancer, builds node data with several workers
// and answers the calls of slaves. A Process is a Distributor that listens.
package distributor

import (
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/node/identity"
	"adshard/internal/node/truth"
	"adshard/internal/wait"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

// mapper is where a provider learns what the mapper decides: a balancer in the
// same process, or one reached over gRPC.
type mapper interface {
	Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error)
}

// Distributor drives a distributor core: it follows the database and the mapper,
// builds node data with several workers and hands it to slaves. A balancer has
// one, and a distributor process is one. It shares nothing with the mapper but
// the calls of quanta.
type Distributor struct {
	pb.UnimplementedDistributorServer
	name, address string // as the mapper is told
	cfg           DataConfig
	order         balance.Order
	db            backend.Store
	mapper        mapper
	log           *slog.Logger
	health        *health.Tracker
	builders      *truth.Builders
	work          chan struct{} // a token for each build at a time
	verifying     chan struct{} // one for the comparison under way
	poke          chan struct{} // there are tasks

	mu       sync.Mutex       // guards what follows, and the core
	data     identity.Dataset // that it hands out; its timeline is the mapper's
	index    *balance.Index
	dist     *machine               // nil: no balancer was heard of
	epoch    uint64                 // of the mapper that dist follows
	number   uint64                 // of the newest quantum taken; 0: none
	fed      backend.Position       // of the newest change taken
	built    backend.Position       // of the newest snapshot that buckets were built from
	clients  map[string]*client     // by the slave's name
	weights  map[balance.Key]uint32 // to be told to the mapper
	deserted bool                   // the core goes on without a mapper
	tasks    []task
	changed  wait.Broadcast // sent when something may be ready
	made     uint64         // buckets, when last somebody was woken
}

// machine is the distributor of package balance with node data of groups. What it
// wanted done goes back to it, also when another one has taken its place.
type machine = balance.Distributor[*pb.NodeData]

// client is a slave that has enlisted.
type client struct {
	incarnation string
	seen        time.Time
	held        int    // slices of its table
	at, to      marked // where it is, and where the bucket leads that it was given
}

// marked is a position with the mark of the change at its clock.
type marked struct {
	position balance.Position
	mark     uint64
}

// task is reading or building that the core asked for.
type task func(ctx context.Context) error

// New returns a provider that has no items yet.
func New(name, address string, cfg DataConfig, order balance.Order, db backend.Store, mapper mapper, health *health.Tracker, log *slog.Logger) *Distributor {
	return &Distributor{
		name: name, address: address, cfg: cfg, order: order, data: identity.Dataset{Order: order}, db: db, mapper: mapper, health: health, log: log,
		builders: truth.NewBuilders(order, cfg.Workers), work: make(chan struct{}, cfg.Workers),
		verifying: make(chan struct{}, 1), poke: make(chan struct{}, 1),
		clients: make(map[string]*client), weights: make(map[balance.Key]uint32),
	}
}

// Load reads all items.
func (p *Distributor) Load(ctx context.Context) error {
	id, err := p.db.ID(ctx)
	if err != nil {
		return err
	}
	index := &balance.Index{}
	at, err := feed.ReadItems(ctx, p.db, p.order, p.cfg.Weights, index)
	if err != nil {
		return fmt.Errorf("load the items: %w", err)
	}
	p.Begin(id, index, at)
	return nil
}

// Begin begins with these items, as of a position. Slaves that have enlisted do so
// again.
func (p *Distributor) Begin(database string, index *balance.Index, at backend.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data.Database, p.index, p.fed, p.built = database, index, at, at
	if p.dist != nil {
		p.follow(p.epoch)
	}
}

// Run works until ctx is over; it returns nil then.
func (p *Distributor) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.tail(ctx) })
	group.Go(func() error { return p.listen(ctx) })
	group.Go(func() error { return p.dispatch(ctx, group) })
	err := group.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// tail follows the database. When the next changes are no longer in the log,
// because this process was suspended for long or the database was restored, the
// items are read again.
func (p *Distributor) tail(ctx context.Context) error {
	for {
		f := feed.Follower{DB: p.db, Order: p.order, Log: p.log, Health: p.health, At: p.fed} // nobody else changes fed
		err := f.Run(ctx, p.take)
		if !fault.Is(err, fault.Stale) && !fault.Is(err, fault.Conflict) || ctx.Err() != nil {
			return err
		}
		p.log.Warn("the log of changes does not go on from here; reading all items anew", "err", err)
		for err := p.Load(ctx); err != nil; err = p.Load(ctx) {
			p.health.Note(health.ReadChanges, err)
			p.log.Warn("cannot read the items; trying again", "err", err)
			if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
				return err
			}
		}
	}
}

// take gives changes to the core.
func (p *Distributor) take(list []balance.Change, at backend.Position) error {
	return p.step(func() error {
		for _, c := range list {
			switch _, known := p.index.Get(c.Key); {
			case c.Key == 0:
			case c.Removed:
				p.index.Delete(c.Key)
			case !known:
				p.index.Put(c.Key, 1) // until it is built and weighed
			}
		}
		p.fed = at
		if p.dist == nil {
			return nil
		}
		return p.dist.Changes(list)
	})
}

// step changes the core under the lock, takes over what it wants done, and
// wakes those who wait when there is something for them.
func (p *Distributor) step(change func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := change()
	p.collect()
	return err
}

// collect is called under the lock.
func (p *Distributor) collect() {
	if p.dist == nil {
		return
	}
	core, w := p.dist, p.dist.Work()
	for _, job := range w.Builds {
		p.tasks = append(p.tasks, func(ctx context.Context) error { return p.build(ctx, core, job) })
	}
	for _, job := range w.Fetches {
		p.tasks = append(p.tasks, func(ctx context.Context) error { return p.fetch(ctx, core, job) })
	}
	if len(p.tasks) > 0 {
		select {
		case p.poke <- struct{}{}:
		default:
		}
	}
	if made := p.dist.Made(); made != p.made {
		p.made = made
		p.changed.Notify()
	}
}

// dispatch starts the tasks, as many at a time as there are workers.
func (p *Distributor) dispatch(ctx context.Context, group *errgroup.Group) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.poke:
		}
		p.mu.Lock()
		tasks := p.tasks
		p.tasks = nil
		p.mu.Unlock()
		for _, run := range tasks {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case p.work <- struct{}{}:
			}
			group.Go(func() error {
				defer func() { <-p.work }()
				return run(ctx)
			})
		}
	}
}

// QueuedBytes is what is ready for a slave here.
func (p *Distributor) QueuedBytes(slave string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dist == nil {
		return 0
	}
	return p.dist.QueuedBytes(slave)
}

// unheard is the error of a provider that no balancer has spoken to.
func (p *Distributor) unheard(op string) error {
	return fault.Newf(fault.Unavailable, op, "the distributor %s has not heard of a balancer yet; ask again after a pause", p.name)
}
