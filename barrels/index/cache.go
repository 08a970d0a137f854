package index

import (
	"sync"
	"sync/atomic"
)

// Cache keeps what searches read under one prefix (a group's items), verified and decoded. A seek
// in RocksDB costs some microseconds even if everything is in memory; a lookup here costs some tens
// of nanoseconds.
//
// States have ascending numbers. An entry was read from the state with the entry's number, or put
// by the writer for the state that the writer is making. It is valid for a state if the prefix
// changed neither after the entry was read nor after that state was published. The writer records a
// batch's changes before it publishes the next state, so an entry is never used for a state that
// would read something else.
type Cache[V any] struct {
	shards    [cacheShards]cacheShard[V]
	room      *Allowance
	none      bool // nothing is kept
	admission doorkeeper
	// changed holds, by a hash of the prefix, the number of the last state that
	// changed one of the prefixes with that hash.
	changed [cacheHashes]atomic.Uint64
	// floor is the number of the last state that changed everything.
	floor atomic.Uint64
}

const (
	cacheShards = 32
	cacheHashes = 1 << 16
	// cacheShare is the inverse of the largest fraction of a shard that one entry may use.
	cacheShare = 8
)

type cacheShard[V any] struct {
	mu      sync.Mutex // guards entries and bytes
	entries map[uint64]*cached[V]
	bytes   int
}

// cached is an entry. Of its fields only bytes and used ever change.
type cached[V any] struct {
	value V
	state uint64
	bytes int  // guarded by the shard's mu
	used  bool // whether it was used since eviction last passed over it; guarded by the shard's mu
}

// NewCache returns an empty cache with a share of the memory.
func NewCache[V any](room *Allowance) *Cache[V] {
	c := &Cache[V]{room: room, none: room.Part() == 0, admission: room.doorkeeper()}
	for i := range c.shards {
		c.shards[i].entries = make(map[uint64]*cached[V])
	}
	room.OnLess(c.fit)
	return c
}

// MaxBytes returns the size of the largest value that is kept. It does not depend on what other caches need.
func (c *Cache[V]) MaxBytes() int { return int(c.room.Part()) / cacheShards / cacheShare }

// limit returns the bytes of a shard.
func (c *Cache[V]) limit() int { return int(c.room.Limit()) / cacheShards }

// fit makes the entries fit the share.
func (c *Cache[V]) fit() bool {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.evict(c.limit(), nil)
		s.mu.Unlock()
	}
	return true
}

func (c *Cache[V]) hash(prefix uint64) uint64 { return prefix * 0x9e3779b97f4a7c15 >> 16 }

func (c *Cache[V]) shard(prefix uint64) *cacheShard[V] {
	return &c.shards[c.hash(prefix)>>16%cacheShards]
}

// Changed declares that the state with this number, which is yet to be published, changes a prefix.
func (c *Cache[V]) Changed(prefix, state uint64) { c.changed[c.hash(prefix)%cacheHashes].Store(state) }

// ChangedAll declares that the state may change any prefix.
func (c *Cache[V]) ChangedAll(state uint64) { c.floor.Store(state) }

// Get returns the cached value of a prefix for a state. ok is false if there is none.
func (c *Cache[V]) Get(prefix, state uint64) (value V, ok bool) {
	if c.none {
		return value, false
	}
	s := c.shard(prefix)
	s.mu.Lock()
	e := s.entries[prefix]
	if e != nil {
		e.used = true
	}
	s.mu.Unlock()
	if e == nil {
		return value, false
	}
	if !c.Holds(prefix, e.state, state) {
		return value, false
	}
	return e.value, true
}

// Drop removes the cached value of a prefix.
func (c *Cache[V]) Drop(prefix uint64) {
	s := c.shard(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[prefix]; e != nil {
		delete(s.entries, prefix)
		s.bytes -= e.bytes
	}
}

// Has reports whether anything is cached for a prefix, from any state.
func (c *Cache[V]) Has(prefix uint64) bool {
	if c.none {
		return false
	}
	s := c.shard(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[prefix] != nil
}

// Valid reports whether the cached value of a prefix is valid for a state. It does not count as a use.
func (c *Cache[V]) Valid(prefix, state uint64) bool {
	s := c.shard(prefix)
	s.mu.Lock()
	e := s.entries[prefix]
	s.mu.Unlock()
	return e != nil && c.Holds(prefix, e.state, state)
}

// Holds reports whether data of a prefix that was read in one state is valid in another.
func (c *Cache[V]) Holds(prefix, read, state uint64) bool {
	since := max(c.ChangedAt(prefix), c.floor.Load())
	return read >= since && state >= since
}

// ChangedAt returns the number of the last state that changed the prefix, or another one with the
// same hash.
func (c *Cache[V]) ChangedAt(prefix uint64) uint64 {
	return c.changed[c.hash(prefix)%cacheHashes].Load()
}

// Bytes returns the size of the entries.
func (c *Cache[V]) Bytes() uint64 {
	sum := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		sum += s.bytes
		s.mu.Unlock()
	}
	return uint64(sum)
}

// Put caches all that a state has read of a prefix. If the cache is full, it keeps only prefixes
// that were put before recently (doorkeeper).
func (c *Cache[V]) Put(prefix, state uint64, value V, bytes int) {
	if bytes += CacheOverhead; bytes > c.MaxBytes() {
		return
	}
	if c.put(prefix, state, value, bytes) {
		c.room.Missed(int64(bytes))
	}
}

// put is Put of an entry of a size that is kept. It reports whether the cache was full and has admitted a new prefix.
func (c *Cache[V]) put(prefix, state uint64, value V, bytes int) (missed bool) {
	s := c.shard(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	more := bytes
	switch old := s.entries[prefix]; {
	case old != nil && old.state > state:
		return false
	case old != nil:
		more -= old.bytes
	case !c.fits(s, more):
		if missed = true; !c.admission.admit(prefix) {
			return false
		}
	}
	e := &cached[V]{value: value, state: state, bytes: bytes}
	s.entries[prefix] = e
	s.grow(c, more, e)
	return missed
}

// fits reports whether a shard has room for more bytes and is not full then, once the limit was raised if need be.
func (c *Cache[V]) fits(s *cacheShard[V], more int) bool {
	for limit := c.limit(); s.bytes+more > limit-limit/8; limit = c.limit() {
		if !c.room.Grow() {
			return false
		}
	}
	return true
}

// grow counts more bytes, and makes room if needed.
func (s *cacheShard[V]) grow(c *Cache[V], more int, keep *cached[V]) {
	s.bytes += more
	for limit := c.limit(); s.bytes > limit; limit = c.limit() {
		if !c.room.Grow() {
			s.evict(limit-limit/8, keep)
			return
		}
	}
}

// Fill is Put ahead of searches: it leaves a quarter of the cache to what they ask for, and returns false if there is no room. There is
// none for anything if nothing is kept.
func (c *Cache[V]) Fill(prefix, state uint64, value V, bytes int) bool {
	if bytes += CacheOverhead; bytes > c.MaxBytes() {
		return !c.none
	}
	s := c.shard(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	more := bytes
	if old := s.entries[prefix]; old != nil {
		if old.state > state {
			return true
		}
		more -= old.bytes
	}
	if s.bytes+more > int(c.room.Ahead())/cacheShards {
		return false
	}
	e := &cached[V]{value: value, state: state, bytes: bytes}
	s.entries[prefix] = e
	s.grow(c, more, e)
	return true
}

// Grew counts that a cached value has come to take more bytes, or fewer. is reports whether a value is that one: another may have taken
// its place.
func (c *Cache[V]) Grew(prefix uint64, by int, is func(V) bool) {
	s := c.shard(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[prefix]; e != nil && is(e.value) {
		e.bytes += by
		s.grow(c, by, nil)
	}
}

// CacheOverhead is about the size of an entry without its value.
const CacheOverhead = 160

// evict drops entries, in the map's random order, until at most limit bytes remain. An entry used
// since the last pass over it is kept once (second chance). keep, which may be nil, is kept.
func (s *cacheShard[V]) evict(limit int, keep *cached[V]) {
	for s.bytes > limit {
		for prefix, e := range s.entries {
			if s.bytes <= limit {
				return
			}
			if e.used || e == keep {
				e.used = false
				continue
			}
			delete(s.entries, prefix)
			s.bytes -= e.bytes
		}
		if keep != nil && len(s.entries) == 1 || len(s.entries) == 0 {
			return
		}
	}
}
