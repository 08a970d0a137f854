package served

import (
	"context"
	"errors"
	"path/filepath"
	"runtime/debug"

	"adshard/bench/layouts"
	"adshard/bench/measure"
	"adshard/fault"
)

// Served is the layout "served": all matches are counted. Like the product, it
// does not report the sum of their ids, but it reports the best keywords.
type Served struct{}

// ServedTop is the layout "served-top": the search ends when the best keywords
// are certain.
type ServedTop struct{}

// ServedExpanded is the layout "served-expanded": like "served", but each
// search also does the master's part, whose result the others are given: it
// makes words and terms from the text.
type ServedExpanded struct{}

// Name implements layouts.Layout.
func (ServedExpanded) Name() string { return "served-expanded" }

// Provides implements layouts.Layout.
func (ServedExpanded) Provides() layouts.Provides { return Served{}.Provides() }

// Build implements layouts.Layout. The store is a *Store.
func (ServedExpanded) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	s, err := open(ctx, newItems(set), o, RocksDB{}, true)
	if err != nil {
		return nil, err
	}
	s.expands = true
	return s, nil
}

// ServedPrepared is the layout "served-prepared": like "served", but what
// queries need is cached before the first one, as a slave does in the
// background (barrels.Store.Warm).
type ServedPrepared struct{}

// Name implements layouts.Layout.
func (ServedPrepared) Name() string { return "served-prepared" }

// Provides implements layouts.Layout.
func (ServedPrepared) Provides() layouts.Provides { return Served{}.Provides() }

// Build implements layouts.Layout. The store is a *Store.
func (ServedPrepared) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	s, err := open(ctx, newItems(set), o, RocksDB{}, true)
	if err != nil {
		return nil, err
	}
	s.barrels.Warm(ctx)
	return s, nil
}

// Name implements layouts.Layout.
func (Served) Name() string { return "served" }

// Name implements layouts.Layout.
func (ServedTop) Name() string { return "served-top" }

// Provides implements layouts.Layout.
func (Served) Provides() layouts.Provides { return layouts.Provides{Matches: true, Best: true} }

// Provides implements layouts.Layout.
func (ServedTop) Provides() layouts.Provides { return layouts.Provides{Best: true} }

// Build implements layouts.Layout. The store is a *Store.
func (Served) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	return open(ctx, newItems(set), o, RocksDB{}, true)
}

// Build implements layouts.Layout. The store is a *Store.
func (ServedTop) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	return open(ctx, newItems(set), o, RocksDB{}, false)
}

// everything is the size of a cache that holds the largest store.
const everything = 256 << 30

func open(ctx context.Context, items *items, o layouts.Options, e Engine, exact bool) (_ *Store, err error) {
	before, err := resident()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, "store")
	if err := build(ctx, e, items, dir, o.Progress); err != nil {
		return nil, err
	}
	items.rest()
	matching, err := e.Matching(dir)
	if err != nil {
		return nil, err
	}
	cache := o.CacheBytes
	if cache == 0 {
		cache = everything
	}
	b, err := Open(e, dir, cache)
	if err != nil {
		return nil, err
	}
	s := &Store{barrels: b, items: items, exact: exact, before: before, matching: matching}
	s.begin()
	if b.Stats().Keywords != uint64(items.set.Len()) {
		err := fault.Newf(fault.Internal, "served: build", "the store has %d keywords, the set %d", b.Stats().Keywords, items.set.Len())
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// resident returns the anonymous memory of this process, without what Go has
// freed.
func resident() (uint64, error) {
	debug.FreeOSMemory()
	m, err := measure.MemoryOf(0)
	return m.Anonymous, err
}
