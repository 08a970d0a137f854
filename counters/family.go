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
	// Attempts is how many puts an update tries before it gives up with fault.Conflict; 0 means
	// as many as its context permits.
	Attempts int
	// Backoff is the longest pause after the first conflict; each further one doubles it, up
	// to 64 times. The default, 1 ms, is far below the time of a put on most stores.
	Backoff time.Duration
}

// Family is counters of one kind and mode, each with a name. It is safe for use by several
// goroutines. It remembers the heads of some counters; nothing in it has to be saved.
type Family[V any] struct{ c *core }

// New makes a family on a store. Two families on one store must not have counters of the
// same name unless their kind is the same. Errors: fault.Invalid.
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

// Update changes the value of a counter by u, which gets a part of it: see Check. u may be
// called several times. Errors: fault.Conflict after Options.Attempts, those of the store,
// and *Unknown when it cannot be known whether the update has been made.
func (f *Family[V]) Update(ctx context.Context, counter string, u func(V) V) error {
	return f.c.update(ctx, counter, functionOf(u), nil)
}

// Value returns the total of a counter: all updates that have been made. A counter that
// was never updated is neutral.
func (f *Family[V]) Value(ctx context.Context, counter string) (v V, err error) {
	raw, err := f.c.total(ctx, counter)
	if err != nil {
		return v, err
	}
	return decode[V](raw)
}

// Set makes v the value of a counter. Updates made before it began no longer count; those that
// begin later do. Errors: those of the store, and *Unknown.
func (f *Family[V]) Set(ctx context.Context, counter string, v V) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	return f.c.set(ctx, counter, raw)
}

// Resize changes the number of shards of a counter; the value stays. Adaptive counters go
// on from there. Errors: fault.Invalid, those of the store.
func (f *Family[V]) Resize(ctx context.Context, counter string, shards int) error {
	return f.c.resize(ctx, counter, shards)
}

// Compact folds rows of dynamic updates, shards beyond their number, and parts from before the last
// Set, 256 at a time, and returns how many parts it folded or removed. Updates do not wait for it,
// though those under way read the head again.
func (f *Family[V]) Compact(ctx context.Context, counter string) (int, error) {
	return f.c.compact(ctx, counter)
}

// Shards returns how many shards a counter has, and how many parts it is in.
func (f *Family[V]) Shards(ctx context.Context, counter string) (shards, parts int, err error) {
	return f.c.shards(ctx, counter)
}

// Maintain compacts a counter, and changes the number of its shards if it is adaptive. Call it at
// equal intervals, the windows of the Rule, from one process or several.
func (f *Family[V]) Maintain(ctx context.Context, counter string) error {
	return f.c.maintain(ctx, counter)
}

// Run maintains the counters that this process has updated, one pass every interval, until ctx
// is done, and returns ctx's error then. Other errors are passed to note; the next pass tries again.
func (f *Family[V]) Run(ctx context.Context, interval time.Duration, note func(error)) error {
	return f.c.run(ctx, interval, note)
}

// core is a family on values as they are stored.
type core struct {
	store store.Store
	parts
	mode    Mode
	options Options

	mu sync.Mutex
	// known has the heads read last.
	known map[name]*head
	// missed has the conflicts of updates that gave up, for the next put to record.
	missed map[name]uint64
	paces  map[name]*watch
	// updated has the counters that Run has not maintained since.
	updated map[name]string
}

// mostKnown bounds the heads that a family caches.
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

// forget empties the cache, which is filled again by reading. The caller has mu, or the core is
// new.
func (c *core) forget() {
	c.known, c.missed, c.paces = make(map[name]*head), make(map[name]uint64), make(map[name]*watch)
	if c.updated == nil || len(c.updated) >= mostKnown {
		c.updated = make(map[name]string)
	}
}

// head returns the head that was read last.
func (c *core) head(ctx context.Context, n name) (*head, error) {
	c.mu.Lock()
	h := c.known[n]
	c.mu.Unlock()
	if h != nil {
		return h, nil
	}
	return c.newest(ctx, n)
}

// newest reads the head, and makes it if there is none.
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
		if err != nil && !fault.Is(err, fault.Conflict) { // after a conflict another one has made it
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

// put returns the change of the head to a record.
func (n name) put(h *head, r *record) store.Change {
	return store.Change{Key: n.head(), Version: h.version, Value: r.encode()}
}

// total folds all parts that count.
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

// part is a shard or row as it was read.
type part struct {
	record
	key     string
	version uint64
}

// snapshot is a counter at one moment.
type snapshot struct {
	head  *head // nil: there is none
	parts []part
}

// snapshot reads a counter; with a limit, at most that many parts.
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
