// Package distributor prepares the data of slaves ("node data"): in a process of its own, or inside
// a balancer.
//
// A Distributor drives the distributor of package balance, a state machine: it
// follows the database and the balancer, builds node data with several workers
// and answers the calls of slaves. A Process is a Distributor that listens.
package distributor

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
	"adshard/balance/delivery"
	"adshard/fault"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/node/identity"
	"adshard/internal/node/truth"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// quantaSource gives a distributor the mapper's decisions. It is a balancer in the same process, or
// one reached over gRPC.
type quantaSource interface {
	Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error)
}

// Distributor follows the database and a balancer, builds node data with several workers and
// answers the calls of slaves. Only its calls for quanta connect it with the balancer. Make it with
// New, give it items with Load or Begin, and start it with Run.
type Distributor struct {
	pb.UnimplementedDistributorServer
	name, address string // with which the balancer lists it
	cfg           DataConfig
	order         balance.Order
	db            backend.Store
	balancer      quantaSource
	log           *slog.Logger
	health        *health.Tracker
	builders      *truth.Builders
	work          chan struct{} // holds one element for each build under way
	verifying     chan struct{} // holds one element during a comparison
	poke          chan struct{} // signals that there are tasks
	began         time.Time     // when the state machine's time was 0

	mu      sync.Mutex       // guards the fields below, and the state machine
	data    identity.Dataset // the data that it hands out; its timeline is the balancer's
	index   *balance.Index
	machine *stateMachine          // nil until a balancer has answered
	epoch   uint64                 // epoch of the balancer that machine follows
	number  uint64                 // number of the newest quantum applied, or 0
	fed     backend.Position       // position of the newest change applied
	built   backend.Position       // position of the newest snapshot that buckets were built from
	slaves  map[string]*slave      // by the slave's name
	weights map[balance.Key]uint32 // to be reported to the balancer
	alone   bool                   // the state machine is running without a balancer
	tasks   []task
	changed wait.Broadcast // sent when something may be ready
	made    uint64         // number of buckets at the last broadcast of changed
}

// stateMachine is the distributor of package balance for slave data. The result of a task goes to
// the state machine that asked for it, even if another one has replaced that one meanwhile.
type stateMachine = delivery.Distributor[*nodeData]

// slave is a slave that has enlisted.
type slave struct {
	incarnation string
	seen        time.Time
	slices      int    // number of slices in its table
	at, to      marked // its position, and the position after the bucket that it was given
}

// marked is a position with the mark of the change at its clock.
type marked struct {
	position balance.Position
	mark     uint64
}

// New returns a distributor without items. The balancer lists it under `name` and `address`;
// `balancer` gives it quanta.
func New(name, address string, cfg DataConfig, order balance.Order, db backend.Store, balancer quantaSource, health *health.Tracker, log *slog.Logger) *Distributor {
	return &Distributor{
		name: name, address: address, cfg: cfg, order: order, data: identity.Dataset{Order: order}, db: db, balancer: balancer, health: health, log: log,
		builders: truth.NewBuilders(order, cfg.Languages, cfg.Workers), work: make(chan struct{}, cfg.Workers),
		verifying: make(chan struct{}, 1), poke: make(chan struct{}, 1), began: time.Now(),
		slaves: make(map[string]*slave), weights: make(map[balance.Key]uint32),
	}
}

// Load reads all items of the database.
func (d *Distributor) Load(ctx context.Context) error {
	id, err := d.db.ID(ctx)
	if err != nil {
		return err
	}
	index := &balance.Index{}
	at, err := feed.ReadItems(ctx, d.db, d.order, d.cfg.Weights, index)
	if err != nil {
		return fmt.Errorf("load the items: %w", err)
	}
	d.Begin(id, index, at)
	return nil
}

// Begin starts over with these items, as of a position. All slaves must enlist again.
func (d *Distributor) Begin(database string, index *balance.Index, at backend.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.data.Database, d.index, d.fed, d.built = database, index, at, at
	if d.machine != nil {
		d.follow(d.epoch)
	}
}

// Run works until ctx is done, and then returns nil.
func (d *Distributor) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return d.followFeed(ctx) })
	group.Go(func() error { return d.poll(ctx) })
	group.Go(func() error { return d.dispatch(ctx, group) })
	err := group.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// followFeed follows the database. If the next changes are no longer in the log, because this
// process was suspended for a long time or the database was restored, it reads the items again.
func (d *Distributor) followFeed(ctx context.Context) error {
	for {
		f := feed.Follower{DB: d.db, Order: d.order, Log: d.log, Health: d.health, At: d.fed} // only this goroutine changes d.fed
		err := f.Run(ctx, d.applyChanges)
		if !fault.Is(err, fault.Stale) && !fault.Is(err, fault.Conflict) || ctx.Err() != nil {
			return err
		}
		d.log.Warn("the log of changes does not continue from here; reading all items again", "err", err)
		for err := d.Load(ctx); err != nil; err = d.Load(ctx) {
			d.health.Record(health.ReadChanges, err)
			d.log.Warn("cannot read the items; trying again", "err", err)
			if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
				return err
			}
		}
	}
}

func (d *Distributor) applyChanges(list []balance.Change, at backend.Position) error {
	return d.step(func() error {
		for _, c := range list {
			switch _, known := d.index.Get(c.Key); {
			case c.Key == 0:
			case c.Removed:
				d.index.Delete(c.Key)
			case !known:
				d.index.Put(c.Key, 1) // until the item is built and weighed
			}
		}
		d.fed = at
		if d.machine == nil {
			return nil
		}
		return d.machine.Changes(list)
	})
}

// step changes the state machine under the lock, queues the tasks that it asks for, and wakes
// waiting pulls if there are new buckets.
func (d *Distributor) step(change func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := change()
	d.collect()
	return err
}

// QueuedBytes returns the total size of the buckets that are ready for a slave.
func (d *Distributor) QueuedBytes(slave string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.machine == nil {
		return 0
	}
	return d.machine.QueuedBytes(slave)
}

// noBalancer returns the error of a distributor that no balancer has answered yet.
func (d *Distributor) noBalancer(op string) error {
	return fault.Newf(fault.Unavailable, op, "the distributor %s has not reached a balancer yet; ask again after a pause", d.name)
}
