// Package memory implements a store in memory, under one lock. It is for tests and
// measurements, and the reference for the other stores.
package memory

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"adshard/counters/store"
)

// Store is a store.Store whose data end with the process.
type Store struct {
	mu    sync.Mutex
	items map[string]store.Item
}

var _ store.Store = (*Store)(nil)

// New makes an empty store.
func New() *Store { return &Store{items: make(map[string]store.Item)} }

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Item, error) {
	if err := context.Cause(ctx); err != nil {
		return store.Item{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.items[key]
	it.Key, it.Value = key, bytes.Clone(it.Value)
	return it, nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, limit int) ([]store.Item, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []store.Item
	for _, key := range slices.Sorted(maps.Keys(s.items)) {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if limit > 0 && len(out) == limit {
			break
		}
		it := s.items[key]
		it.Value = bytes.Clone(it.Value)
		out = append(out, it)
	}
	return out, nil
}

// Apply implements store.Store.
func (s *Store) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if err := store.Validate(changes); err != nil {
		return 0, err
	}
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range changes {
		if s.items[changes[i].Key].Version != changes[i].Version {
			return 0, store.Conflict(&changes[i])
		}
	}
	version := store.NewVersion()
	for _, c := range changes {
		switch c.Action {
		case store.Put:
			s.items[c.Key] = store.Item{Key: c.Key, Value: bytes.Clone(c.Value), Version: version}
		case store.Delete:
			delete(s.items, c.Key)
		case store.Check:
		}
	}
	return version, nil
}
