// Package offline builds the stores of all slaves from a snapshot of the database,
// without a running cluster.
package offline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/plan"
	"adshard/balance/strategy"
	"adshard/fault"
	"adshard/internal/node/database"
	"adshard/internal/node/home"
	"adshard/internal/node/identity"
	"adshard/internal/outfile"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Summary describes the stores that Build made.
type Summary struct {
	Stores           []Store
	Groups, Keywords uint64
	Clock            uint64
	MaxOverMean      float64 // of the weights of items
	Took             time.Duration
}

// Store describes one store that was made.
type Store struct {
	Dir              string
	Slices           int
	Groups, Keywords uint64
}

// Build makes complete stores, one for each slave, by the strategy's plan over a snapshot of the
// database, with the same encoders as for data from the feed. The stores have the table of view 1
// and the position {epoch 0, clock of the snapshot, quantum 1}, so that a balancer without a plan
// adopts them and continues from there. The directory and the database are bound to each other.
// `progress`, if not nil, is called from time to time with the number of keywords done and the
// number of all keywords.
//
// Errors: fault.Invalid for the configuration, fault.Conflict if a store exists already. After an
// error, Build removes the stores that it has made.
func Build(ctx context.Context, cfg Config, progress func(done, total uint64)) (*Summary, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := cfg.need().Check(nil); err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, cfg.DB, false)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	b := &build{cfg: cfg, begin: time.Now(), progress: progress, open: openWhole}
	sum, err := b.run(ctx, db)
	if err != nil {
		return nil, err
	}
	// This comes last: a directory that is not bound is not a finished build.
	if err := home.Create(ctx, cfg.Out, cfg.Slaves, cfg.Order, db); err != nil {
		return nil, errors.Join(err, b.remove())
	}
	return sum, nil
}

// build is one offline build.
type build struct {
	cfg      Config
	order    balance.Order
	data     identity.Dataset
	begin    time.Time
	progress func(done, total uint64)
	open     func(dir string, languages words.Languages) (wholeStore, error)

	model  *balance.Model
	at     map[balance.ShardID][]int // the slaves of each shard; the spares for shard 0
	even   balance.Evenness
	total  uint64         // keywords, counted once for each store that gets them
	needed []parentsOf    // by slave
	owners map[uint64]int // campaign → index in campaigns
	camps  []*backend.Campaign

	stores []*storeBuild

	mu     sync.Mutex // guards the fields below, and calls of progress
	halves uint64     // number of keywords added to their stores, plus the number in finished stores
}

// storeBuild is the store of one slave.
type storeBuild struct {
	dir              string
	store            wholeStore
	groups, keywords uint64
	finished         bool
}

func (b *build) run(ctx context.Context, db backend.Store) (sum *Summary, err error) {
	b.order, _ = balance.ParseOrder(b.cfg.Order)
	if b.data, err = identity.Of(ctx, db, b.order); err != nil {
		return nil, err
	}
	snap, err := backend.FillSnapshot(ctx, db, 0)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	if err := b.plan(ctx, snap); err != nil {
		return nil, err
	}
	defer func() {
		if err = b.close(err); err != nil {
			sum = nil
		}
	}()
	if err := b.create(); err != nil {
		return nil, err
	}
	if err := b.parents(ctx, snap); err != nil {
		return nil, err
	}
	if err := b.items(ctx, snap); err != nil {
		return nil, err
	}
	if err := b.finish(ctx, snap.Position()); err != nil {
		return nil, err
	}
	return b.summary(snap.Position().Clock), nil
}

// plan places the groups in the same way as a balancer.
func (b *build) plan(ctx context.Context, snap backend.Snapshot) error {
	index := &balance.Index{}
	var sizes []backend.GroupSize
	for g, err := range snap.Groups(ctx) {
		if err != nil {
			return err
		}
		key, err := b.order.Key(g.AdvertiserID, g.ID)
		if err != nil {
			return fault.New(fault.Invalid, "build barrels", err)
		}
		index.Put(key, b.cfg.Weights.Of(g.Keywords, g.Ads, g.Lexicon))
		sizes = append(sizes, g)
	}
	chosen, err := strategy.Named(b.cfg.Strategy)
	if err != nil {
		return err
	}
	slaves := make([]balance.Slave, b.cfg.Slaves)
	for i := range slaves {
		slaves[i].Name = home.StoreName(i)
	}
	base, err := balance.Compose(slaves, b.cfg.Replicas)
	if err != nil {
		return err
	}
	model, proposal, err := plan.InitialOn(chosen, b.order, base, index, nil, time.Time{})
	if err != nil {
		return err
	}
	b.model, b.even, b.at = model, proposal.Expected, make(map[balance.ShardID][]int)
	for i := range slaves {
		s, _ := model.Slave(slaves[i].Name)
		b.at[s.Shard] = append(b.at[s.Shard], i)
	}
	b.need(sizes)
	return nil
}

// slaves returns the indexes of the slaves that hold a key.
func (b *build) slaves(k balance.Key) []int { return b.at[b.model.At(k).Shard] }

// create makes empty stores.
func (b *build) create() error {
	err := outfile.CheckDir(b.cfg.Out, false)
	if err == nil {
		err = outfile.MakeDir(b.cfg.Out)
	}
	if err != nil {
		return fault.Newf(fault.Invalid, "build barrels", "%w", err)
	}
	for i := range b.cfg.Slaves {
		dir := filepath.Join(b.cfg.Out, home.StoreName(i))
		store, err := b.open(dir, b.cfg.Languages)
		if err != nil {
			return err
		}
		b.stores = append(b.stores, &storeBuild{dir: dir, store: store})
	}
	return nil
}

// finish completes the stores, one after another, since each uses all processors.
func (b *build) finish(ctx context.Context, end backend.Position) error {
	for i, s := range b.stores {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := &pb.Position{Clock: end.Clock, Mark: end.Mark, Quantum: 1}
		if err := s.store.Finish(at, b.data.Table(b.model.TableOf(home.StoreName(i)))); err != nil {
			return err
		}
		s.finished = true
		b.mu.Lock()
		b.halves += s.keywords
		b.report()
		b.mu.Unlock()
	}
	return nil
}

// close closes all stores. After an error, it removes those that were made.
func (b *build) close(err error) error {
	for _, s := range b.stores {
		if closed := s.store.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		err = errors.Join(err, b.remove())
	}
	return err
}

// remove removes the stores that were completed.
func (b *build) remove() error {
	var err error
	for _, s := range b.stores {
		if s.finished {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}
	return err
}

func (b *build) summary(clock uint64) *Summary {
	out := &Summary{Clock: clock, MaxOverMean: b.even.Ratio(), Took: time.Since(b.begin)}
	for i, s := range b.stores {
		out.Stores = append(out.Stores, Store{
			Dir: s.dir, Slices: len(b.model.TableOf(home.StoreName(i)).Slices), Groups: s.groups, Keywords: s.keywords,
		})
		if v, _ := b.model.Slave(home.StoreName(i)); b.at[v.Shard][0] == i { // the other replicas have the same contents
			out.Groups += s.groups
			out.Keywords += s.keywords
		}
	}
	return out
}
