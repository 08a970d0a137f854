package upsert

import (
	"context"

	"adshard/backend"
)

// Row is one keyword, negative or ad with the natural key K and the value V.
type Row[K, V comparable] struct {
	Owner, ID uint64 // Owner is the group, campaign or advertiser; ID is the row's own id
	Key       K
	Now       V // the wanted value
	Before    V // the value in the database, if the row exists there
	exists    bool
	gone      bool // removed
	queued    bool
}

// Stored returns a row with the value that the database has.
func Stored[K, V comparable](owner, id uint64, key K, value V) *Row[K, V] {
	return &Row[K, V]{Owner: owner, ID: id, Key: key, Now: value, Before: value, exists: true}
}

// Rows reads and writes a table. Its errors are those of the database and end the transaction.
type Rows[K, V comparable] interface {
	// Load reads at most `limit` rows of an owner and passes them to Table.Loaded.
	Load(ctx context.Context, owner uint64, limit int) error
	// Find returns the row of an owner with a key, or nil if there is none.
	Find(ctx context.Context, owner uint64, key K) (*Row[K, V], error)
	// Remove deletes rows, Update sets them from Before to Now, and Insert writes new ones. Remove is called first,
	// since a new row may have the key of a removed one.
	Remove(ctx context.Context, rows []*Row[K, V]) error
	Update(ctx context.Context, rows []*Row[K, V]) error
	Insert(ctx context.Context, rows []*Row[K, V]) error
}

// Table caches the rows of one table that a transaction has read, by owner, and queues those that differ. It must be
// used by only one goroutine.
type Table[K, V comparable] struct {
	Rows   Rows[K, V]
	Entity backend.Entity
	// Next returns the id of a new row.
	Next func(ctx context.Context) (uint64, error)
	// Report is called with each effect.
	Report func(entity backend.Entity, id uint64, effect backend.Effect)
	// Full is called when Queued rows are waiting. It must call Flush.
	Full   func(ctx context.Context) error
	Queued int
	// Whole is the most rows of one owner that are cached together. If an owner has more, its rows are looked up one
	// by one.
	Whole int

	owners map[uint64]*owned[K, V]
	queue  []*Row[K, V]
	size   int
}

// owned holds the cached rows of one owner.
type owned[K, V comparable] struct {
	rows  map[K]*Row[K, V] // nil if the owner has no such row
	whole bool             // rows has all rows of the owner
}

// Size returns the size of the cache: one for each owner and one for each row.
func (t *Table[K, V]) Size() int { return t.size }

// Forget empties the cache, which must have been flushed.
func (t *Table[K, V]) Forget() {
	t.owners, t.size = nil, 0
}

// ForgetOwner drops the rows of an owner that is removed. The table must have been flushed.
func (t *Table[K, V]) ForgetOwner(owner uint64) {
	if o := t.owners[owner]; o != nil {
		t.size -= 1 + len(o.rows)
		delete(t.owners, owner)
	}
}

// Known reports whether the rows of an owner are cached.
func (t *Table[K, V]) Known(owner uint64) bool { return t.owners[owner] != nil }

// Cached returns the cached rows of an owner, in any order.
func (t *Table[K, V]) Cached(owner uint64) (list []*Row[K, V]) {
	if o := t.owners[owner]; o != nil {
		for _, r := range o.rows {
			list = append(list, r)
		}
	}
	return list
}

// Created notes that an owner is new and has no rows yet.
func (t *Table[K, V]) Created(owner uint64) { t.put(owner, nil, true) }

// Loaded caches the rows of an owner that Rows.Load has read.
func (t *Table[K, V]) Loaded(owner uint64, list []*Row[K, V]) {
	t.put(owner, list, len(list) < t.Limit())
}

// Limit returns the number of rows that Load is asked for: one more than are cached together.
func (t *Table[K, V]) Limit() int { return t.Whole + 1 }

func (t *Table[K, V]) put(owner uint64, list []*Row[K, V], whole bool) {
	if t.owners == nil {
		t.owners = make(map[uint64]*owned[K, V])
	}
	o := &owned[K, V]{rows: make(map[K]*Row[K, V], len(list)), whole: whole}
	for _, r := range list {
		o.rows[r.Key] = r
	}
	t.owners[owner] = o
	t.size += 1 + len(o.rows)
}

func (t *Table[K, V]) rowsOf(ctx context.Context, owner uint64) (*owned[K, V], error) {
	if o := t.owners[owner]; o != nil {
		return o, nil
	}
	if err := t.Rows.Load(ctx, owner, t.Limit()); err != nil {
		return nil, err
	}
	return t.owners[owner], nil
}

func (t *Table[K, V]) find(ctx context.Context, o *owned[K, V], owner uint64, key K) (*Row[K, V], error) {
	r, ok := o.rows[key]
	if ok || o.whole {
		return r, nil
	}
	r, err := t.Rows.Find(ctx, owner, key)
	if err == nil && r != nil {
		o.rows[key] = r
		t.size++
	}
	return r, err
}

// Put changes the row with a key, or creates it with the value `initial` and then changes it.
func (t *Table[K, V]) Put(ctx context.Context, owner uint64, key K, initial V, change func(*V)) error {
	o, err := t.rowsOf(ctx, owner)
	if err != nil {
		return err
	}
	r, err := t.find(ctx, o, owner, key)
	if err != nil {
		return err
	}
	effect := backend.Named
	if r == nil {
		id, err := t.Next(ctx)
		if err != nil {
			return err
		}
		r = &Row[K, V]{Owner: owner, ID: id, Key: key, Now: initial}
		o.rows[key] = r
		t.size++
		effect = backend.Created
	}
	t.Report(t.Entity, r.ID, effect)
	change(&r.Now)
	if !r.exists || r.Now != r.Before {
		return t.enqueue(ctx, r)
	}
	return nil
}

// Remove removes the row with a key, if there is one.
func (t *Table[K, V]) Remove(ctx context.Context, owner uint64, key K) error {
	o, err := t.rowsOf(ctx, owner)
	if err != nil {
		return err
	}
	r, err := t.find(ctx, o, owner, key)
	if r == nil || err != nil {
		return err
	}
	o.rows[key] = nil // the entry is kept, since the database has the row until the flush
	r.gone = true
	t.Report(t.Entity, r.ID, backend.Removed)
	return t.enqueue(ctx, r)
}

func (t *Table[K, V]) enqueue(ctx context.Context, r *Row[K, V]) error {
	if !r.queued {
		r.queued = true
		t.queue = append(t.queue, r)
	}
	if len(t.queue) < t.Queued {
		return nil
	}
	return t.Full(ctx)
}

// Flush writes the queue.
func (t *Table[K, V]) Flush(ctx context.Context) error {
	var removed, changed, fresh []*Row[K, V]
	for _, r := range t.queue {
		r.queued = false
		switch {
		case r.gone && r.exists:
			removed = append(removed, r)
		case r.gone:
		case !r.exists:
			fresh = append(fresh, r)
		case r.Now != r.Before:
			changed = append(changed, r)
		}
	}
	clear(t.queue)
	t.queue = t.queue[:0]
	for _, part := range []struct {
		rows  []*Row[K, V]
		write func(context.Context, []*Row[K, V]) error
	}{{removed, t.Rows.Remove}, {changed, t.Rows.Update}, {fresh, t.Rows.Insert}} {
		if len(part.rows) == 0 {
			continue
		}
		if err := part.write(ctx, part.rows); err != nil {
			return err
		}
	}
	for _, r := range changed {
		r.Before = r.Now
		t.Report(t.Entity, r.ID, backend.Changed)
	}
	for _, r := range fresh {
		r.exists, r.Before = true, r.Now
	}
	return nil
}
