package served

import (
	"context"

	"adshard/barrels"
	"adshard/barrels/kv"
	"adshard/barrels/rocks"
	"adshard/bench/layouts"
)

// Engine is an ordered key-value store for barrels: RocksDB in the product, and
// others to compare with it.
type Engine interface {
	// Runs begins a database in dir, which is missing or empty.
	Runs(dir string) (kv.Runs, error)
	// Open opens the database in dir, with the given cache size for reads.
	Open(dir string, cacheBytes uint64) (kv.DB, error)
	// Matching returns the size on disk of postings and terms, while the database is
	// closed.
	Matching(dir string) (uint64, error)
}

// Open opens the store in dir. As in a slave, half of the memory is for what the
// engine reads, and half for what searches make of it.
func Open(e Engine, dir string, cacheBytes uint64) (barrels.Store, error) {
	db, err := e.Open(dir, cacheBytes/2)
	if err != nil {
		return nil, err
	}
	return barrels.Open(db, barrels.Options{CacheBytes: cacheBytes / 2})
}

// On returns the layout Served on another engine, under its own name.
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
