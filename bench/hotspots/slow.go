package hotspots

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"adshard/counters/store"
	"adshard/fault"
	"adshard/internal/wait"
)

// slow is a store that delays and counts puts.
type slow struct {
	store.Store
	least, most     time.Duration
	puts, conflicts atomic.Int64
}

// Apply waits and then calls the store.
func (s *slow) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if s.most > 0 {
		if err := wait.Sleep(ctx, s.least+rand.N(s.most-s.least)); err != nil {
			return 0, err
		}
	}
	s.puts.Add(1)
	version, err := s.Store.Apply(ctx, changes...)
	if fault.Is(err, fault.Conflict) {
		s.conflicts.Add(1)
	}
	return version, err
}

// prefixed is the part of a store whose keys have a prefix, for one method.
type prefixed struct {
	store.Store
	prefix string
}

// Get reads an item of the part.
func (p prefixed) Get(ctx context.Context, key string) (store.Item, error) {
	it, err := p.Store.Get(ctx, p.prefix+key)
	it.Key = key
	return it, err
}

// List lists items of the part.
func (p prefixed) List(ctx context.Context, prefix string, limit int) ([]store.Item, error) {
	items, err := p.Store.List(ctx, p.prefix+prefix, limit)
	for i := range items {
		items[i].Key = items[i].Key[len(p.prefix):]
	}
	return items, err
}

// Apply changes items of the part.
func (p prefixed) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	own := slices.Clone(changes)
	for i := range own {
		own[i].Key = p.prefix + own[i].Key
	}
	return p.Store.Apply(ctx, own...)
}
