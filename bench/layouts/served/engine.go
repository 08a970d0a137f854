package served

import (
	"context"

	"adshard/barrels"
	"adshard/barrels/kv"
	"adshard/barrels/rocks"
	"adshard/bench/layouts"
)

// Engine is an ordered key-value store that barrels lie in: RocksDB in the product,
// others to compare it with.
type Engine interface {
	// Runs begins a database in dir, which is missing or empty.
	Runs(dir string) (kv.Runs, error)
	// Open opens it, with the given memory for what is read.
	Open(dir string, cacheBytes uint64) (kv.DB, error)
	// Matching is what postings and terms take on disk while the database is closed.
	Matching(dir string) (uint64, error)
}

// Open opens the store in dir. Half of the memory is for what the engine reads,
// half for what searches make of it, as in a slave.
func Open(e Engine, dir string, cacheBytes uint64) (barrels.Store, error) {
	db, err := e.Open(dir, cacheBytes/2)
	if err != nil {
		return nil, err
	}
	return barrels.Open(db, barrels.Options{CacheBytes: cacheBytes / 2})
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

// RocksDB is the product's engine.
type RocksDB struct{}

// Runs implements Engine.
func (RocksDB) Runs(dir string) (kv.Runs, error) { return rocks.NewRuns(dir, rocks.Options{}) }

// Open implements Engine.
func (RocksDB) Open(dir string, cacheBytes uint64) (kv.DB, error) {
	return rocks.Open(dir, rocks.Options{CacheBytes: cacheBytes})
}

// Matching implements Engine.
func (RocksDB) Matching(dir string) (uint64, error) { return matchingBytes(dir) }
