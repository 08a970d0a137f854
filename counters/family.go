package counters

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"adshard/counters/store"
	"adshard/fault"
)

// Options configure a family or a log. The zero value has the defaults.
type Options struct {
	// Attempts is the number of puts that an update tries before it gives up with fault.Conflict; 0
	// means that it tries until its context ends.
	Attempts int
	// Backoff is the longest pause after the first conflict; it doubles with each further conflict,
	// up to 64 times. The default, 1 ms, is far below the time of a put on most stores.
	Backoff time.Duration
}

// Family is the counters of one kind and mode; each has a name. It is safe for use by several
// goroutines. It caches the heads of some counters; none of its state has to be saved.
type Family[V any] struct{ c *core }

// New makes a family on a store. Families of different kinds on one store must not have counters of
// the same name. Errors: fault.Invalid.
func New[V any](s store.Store, k Kind[V], m Mode, o Options) (*Family[V], error) {
	p, err := partsOf(k)
	if err != nil {
		return nil, err
	}
	c, err := newCore(s, p, m, o)
	if err != nil {
		return nil, err
	}
	return &Family[V]{c}, nil
}

// Update applies u to one part of a counter, and so to its value: see Check. It may call u several
// times. Errors: fault.Conflict after Options.Attempts, those of the store, and *Unknown if it
// cannot be known whether the update has been made.
func (f *Family[V]) Update(ctx context.Context, counter string, u func(V) V) error {
	return f.c.update(ctx, counter, functionOf(u), nil)
}

// Value returns the total of a counter, with all updates that have been made. It returns the
// neutral value if the counter was never updated.
func (f *Family[V]) Value(ctx context.Context, counter string) (v V, err error) {
	raw, err := f.c.total(ctx, counter)
	if err != nil {
		return v, err
	}
	return decode[V](raw)
}

// Set makes v the value of a counter. Updates made before it no longer count; those that begin
// after it do. Errors: those of the store, and *Unknown.
func (f *Family[V]) Set(ctx context.Context, counter string, v V) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	return f.c.set(ctx, counter, raw)
}

// Resize changes the number of shards of a counter and keeps its value. Maintain may change the
// number of an adaptive counter again. Errors: fault.Invalid, those of the store.
func (f *Family[V]) Resize(ctx context.Context, counter string, shards int) error {
	return f.c.resize(ctx, counter, shards)
}

// Compact folds the rows of dynamic updates and the shards beyond the number in use, and removes
// parts from before the last Set, 256 at a time. It returns how many parts it folded or removed.
// Updates do not wait for it, but those under way read the head again.
func (f *Family[V]) Compact(ctx context.Context, counter string) (int, error) {
	return f.c.compact(ctx, counter)
}

// Shards returns the number of shards of a counter, and the number of all its parts.
func (f *Family[V]) Shards(ctx context.Context, counter string) (shards, parts int, err error) {
	return f.c.shards(ctx, counter)
}

// Maintain compacts a counter and, if it is adaptive, may change its number of shards. Call it at
// equal intervals, which are the windows of the Rule, from one process or several.
func (f *Family[V]) Maintain(ctx context.Context, counter string) error {
	return f.c.maintain(ctx, counter)
}

// Run maintains the counters that this process has updated, once per interval. When ctx is done, it
// returns the error of ctx. It passes other errors to note, and tries again in the next pass.
func (f *Family[V]) Run(ctx context.Context, interval time.Duration, note func(error)) error {
	return f.c.run(ctx, interval, note)
}

// core is a family whose values are encoded as they are stored.
type core struct {
	store store.Store
	parts
	mode    Mode
	options Options

	mu sync.Mutex
	// known has the head of each counter as it was read last.
	known map[name]*head
	// missed has the number of conflicts of updates that gave up. The next put records them.
	missed map[name]uint64
	paces  map[name]*watch
	// updated has the counters that were updated and not yet maintained by Run.
	updated map[name]string
}

// mostKnown bounds the number of heads that a family caches.
const mostKnown = 4096

func newCore(s store.Store, p parts, m Mode, o Options) (*core, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	if o.Attempts < 0 || o.Backoff < 0 {
		return nil, fault.Newf(fault.Invalid, "counters: new", "Attempts %d and Backoff %v: not below 0", o.Attempts, o.Backoff)
	}
	if o.Backoff == 0 {
		o.Backoff = time.Millisecond
	}
	c := &core{store: s, parts: p, mode: m, options: o}
	c.forget()
	return c, nil
}

// forget empties the cache; reads fill it again. The caller holds mu, unless the core is new.
func (c *core) forget() {
	c.known, c.missed, c.paces = make(map[name]*head), make(map[name]uint64), make(map[name]*watch)
	if c.updated == nil || len(c.updated) >= mostKnown {
		c.updated = make(map[name]string)
	}
}

// head returns the head from the cache, or reads it if it is not there.
func (c *core) head(ctx context.Context, n name) (*head, error) {
	c.mu.Lock()
	h := c.known[n]
	c.mu.Unlock()
	if h != nil {
		return h, nil
	}
	return c.newest(ctx, n)
}

// newest reads the head from the store, and creates it if there is none.
func (c *core) newest(ctx context.Context, n name) (*head, error) {
	for {
		it, err := c.store.Get(ctx, n.head())
		if err != nil {
			return nil, err
		}
		if it.Version != 0 {
			h, err := readHead(it)
			if err == nil {
				c.remember(n, h)
			}
			return h, err
		}
		first := record{Format: format, Shards: c.mode.shards, Epoch: 1, Value: c.neutral}
		_, err = c.store.Apply(ctx, store.Change{Key: n.head(), Value: first.encode()})
		if err != nil && !fault.Is(err, fault.Conflict) { // after a conflict, another process has created it
			return nil, err
		}
	}
}

func (c *core) remember(n name, h *head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= mostKnown && c.known[n] == nil {
		c.forget()
	}
	c.known[n] = h
}

// put returns the change that writes a record as the head.
func (n name) put(h *head, r *record) store.Change {
	return store.Change{Key: n.head(), Version: h.version, Value: r.encode()}
}

// total returns the value of a counter: all parts of the head's epoch, folded.
func (c *core) total(ctx context.Context, counter string) (json.RawMessage, error) {
	n, err := nameOf(counter)
	if err != nil {
		return nil, err
	}
	s, err := c.snapshot(ctx, n, 0)
	if err != nil || s.head == nil {
		return c.neutral, err
	}
	value := s.head.Value
	for i := range s.parts {
		if p := &s.parts[i]; p.Epoch == s.head.Epoch {
			if value, err = c.fold(value, p.Value); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// part is a shard or row, with the key and version it was read with.
type part struct {
	record
	key     string
	version uint64
}

// snapshot is the state of a counter at one moment.
type snapshot struct {
	head  *head // nil if the counter does not exist
	parts []part
}

// snapshot reads a counter with at most limit items, or with all parts if limit is 0.
func (c *core) snapshot(ctx context.Context, n name, limit int) (s snapshot, err error) {
	items, err := c.store.List(ctx, n.parts(), limit)
	if err != nil {
		return s, err
	}
	for _, it := range items {
		if it.Key == n.head() {
			if s.head, err = readHead(it); err != nil {
				return s, err
			}
			continue
		}
		r, err := readRecord(it)
		if err != nil {
			return s, err
		}
		s.parts = append(s.parts, part{*r, it.Key, it.Version})
	}
	return s, nil
}

func (c *core) shards(ctx context.Context, counter string) (shards, parts int, err error) {
	n, err := nameOf(counter)
	if err != nil {
		return 0, 0, err
	}
	s, err := c.snapshot(ctx, n, 0)
	if err != nil || s.head == nil {
		return c.mode.shards, 0, err
	}
	return s.head.Shards, len(s.parts), nil
}
