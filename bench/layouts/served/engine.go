package served

import (
	"context"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/bench/layouts"
	"adshard/schema/pb"
)

// Engine is an ordered store that barrels lie in: RocksDB in the product, others
// to compare it with.
type Engine interface {
	// Builder begins a store in dir, which is missing or empty.
	Builder(dir string) (Builder, error)
	// Open opens it, with so much memory for what searches read.
	Open(dir string, cacheBytes uint64) (barrels.Store, error)
	// Matching is what postings and terms take on disk while the store is closed.
	Matching(dir string) (uint64, error)
}

// Builder builds a store offline; Close ends it in any case.
type Builder interface {
	AddParents([]*pb.Advertiser, []*pb.Campaign) error
	Add(*pb.Item) error
	Finish(*pb.Position, *pb.SliceTable) error
	Close() error
}

// On returns Served on another engine, under a name of its own.
func On(name string, e Engine) layouts.Layout { return other{name, e} }

type other struct {
	name   string
	engine Engine
}

// Name implements layouts.Layout.
func (o other) Name() string { return o.name }

// Provides implements layouts.Layout.
func (o other) Provides() layouts.Provides { return Served{}.Provides() }

// Build implements layouts.Layout. The store is a *Store.
func (o other) Build(ctx context.Context, set *layouts.Set, options layouts.Options) (layouts.Store, error) {
	return open(ctx, newItems(set), options, o.engine, true)
}

// onRocks is the product's engine.
type onRocks struct{}

// Builder implements Engine.
func (onRocks) Builder(dir string) (Builder, error) { return rocks.NewBuilder(dir, rocks.Options{}) }

// Open implements Engine.
func (onRocks) Open(dir string, cacheBytes uint64) (barrels.Store, error) {
	return rocks.Open(dir, rocks.Options{CacheBytes: cacheBytes})
}

// Matching implements Engine.
func (onRocks) Matching(dir string) (uint64, error) { return matchingBytes(dir) }
