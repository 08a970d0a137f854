package sqlite

import (
	"context"
	"strings"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
)

// children is one table of what groups, campaigns or advertisers contain (keywords, negatives, ads), with natural
// keys K and values V. It is the upsert.Rows of a transaction's cache.
type children[K, V comparable] struct {
	t     *tx
	sql   childSQL[K, V]
	cache *upsert.Table[K, V]

	inserts [2]*zs.Stmt // for one row and for many rows; prepared on first use
}

// childSQL says how a table is read and written.
type childSQL[K, V comparable] struct {
	entity backend.Entity
	// kind is the kind of the owners, whose sums include the hashes.
	kind backend.Kind
	hash func(h *hasher, owner, id uint64, key K, value V) sum
	// load selects id, key and value of an owner's rows. byKey, appended to load, restricts it to one key.
	load, byKey string
	scan        func(st *zs.Stmt) (id uint64, key K, value V)
	// insert is followed by placeholders for as many rows as there are, each with `columns` parameters: owner, key,
	// id, value.
	insert  string
	columns int
	// update sets the value of a row; remove deletes it.
	update, remove string
	bindKey        func(st *zs.Stmt, at int, key K) int
	bindValue      func(st *zs.Stmt, at int, value V) int
}

// manyRows is how many rows one INSERT writes; more rows bring no gain.
const manyRows = 16

func newChildren[K, V comparable](t *tx, sql childSQL[K, V], last *uint64) *upsert.Table[K, V] {
	h := &children[K, V]{t: t, sql: sql}
	h.cache = &upsert.Table[K, V]{
		Rows: h, Entity: sql.entity, Report: t.Report, Queued: t.Limits.Queued,
		Whole: t.Limits.Whole(),
		Next: func(context.Context) (uint64, error) {
			*last++
			return *last, nil
		},
	}
	h.cache.Full = h.cache.Flush
	return h.cache
}

// Load implements upsert.Rows.
func (h *children[K, V]) Load(_ context.Context, owner uint64, limit int) error {
	var list []*upsert.Row[K, V]
	err := h.t.c.query(h.sql.load+" LIMIT ?", func(st *zs.Stmt) error {
		list = append(list, h.read(st, owner))
		return nil
	}, owner, int64(limit))
	if err == nil {
		h.cache.Loaded(owner, list)
	}
	return err
}

func (h *children[K, V]) read(st *zs.Stmt, owner uint64) *upsert.Row[K, V] {
	id, key, value := h.sql.scan(st)
	return upsert.Stored(owner, id, key, value)
}

// Find implements upsert.Rows.
func (h *children[K, V]) Find(_ context.Context, owner uint64, key K) (r *upsert.Row[K, V], err error) {
	st, err := h.t.c.Prepare(h.sql.load + h.sql.byKey)
	if err != nil {
		return nil, err
	}
	st.BindInt64(1, int64(owner))
	h.sql.bindKey(st, 2, key)
	err = rows(st, func(st *zs.Stmt) error {
		r = h.read(st, owner)
		return nil
	})
	return r, err
}

// Remove implements upsert.Rows.
func (h *children[K, V]) Remove(_ context.Context, rows []*upsert.Row[K, V]) error {
	for _, r := range rows {
		if err := h.sum(r, -h.hash(r, r.Before)); err != nil {
			return err
		}
		if err := h.execute(h.sql.remove, r, false); err != nil {
			return err
		}
	}
	return nil
}

// Update implements upsert.Rows.
func (h *children[K, V]) Update(_ context.Context, rows []*upsert.Row[K, V]) error {
	for _, r := range rows {
		if err := h.sum(r, h.hash(r, r.Now)-h.hash(r, r.Before)); err != nil {
			return err
		}
		if err := h.execute(h.sql.update, r, true); err != nil {
			return err
		}
	}
	return nil
}

func (h *children[K, V]) hash(r *upsert.Row[K, V], v V) sum {
	return h.sql.hash(&h.t.sums.h, r.Owner, r.ID, r.Key, v)
}

// sum adds `by` to the sum of a row's owner, before the row is written.
func (h *children[K, V]) sum(r *upsert.Row[K, V], by sum) error {
	return h.t.sums.change(h.sql.kind, r.Owner, by)
}

// execute runs the SQL of update or remove, with the parameters value (if any), owner, key.
func (h *children[K, V]) execute(sql string, r *upsert.Row[K, V], value bool) error {
	if err := h.t.announce(); err != nil {
		return err
	}
	st, err := h.t.c.Prepare(sql)
	if err != nil {
		return err
	}
	at := 1
	if value {
		at = h.sql.bindValue(st, at, r.Now)
	}
	st.BindInt64(at, int64(r.Owner))
	h.sql.bindKey(st, at+1, r.Key)
	return rows(st, nil)
}

// Insert implements upsert.Rows. It writes many rows with one statement.
func (h *children[K, V]) Insert(_ context.Context, fresh []*upsert.Row[K, V]) error {
	for len(fresh) > 0 {
		n, which := 1, 0
		if len(fresh) >= manyRows {
			n, which = manyRows, 1
		}
		if err := h.insertTogether(fresh[:n], which); err != nil {
			return err
		}
		fresh = fresh[n:]
	}
	return nil
}

func (h *children[K, V]) insertTogether(fresh []*upsert.Row[K, V], which int) error {
	if err := h.t.announce(); err != nil {
		return err
	}
	if h.inserts[which] == nil {
		one := "(" + strings.TrimSuffix(strings.Repeat("?,", h.sql.columns), ",") + ")"
		st, err := h.t.c.Prepare(h.sql.insert + strings.TrimSuffix(strings.Repeat(one+",", len(fresh)), ","))
		if err != nil {
			return err
		}
		h.inserts[which] = st
	}
	st := h.inserts[which]
	at := 1
	for _, r := range fresh {
		if err := h.sum(r, h.hash(r, r.Now)); err != nil {
			return err
		}
		st.BindInt64(at, int64(r.Owner))
		at = h.sql.bindKey(st, at+1, r.Key)
		st.BindInt64(at, int64(r.ID))
		at = h.sql.bindValue(st, at+1, r.Now)
	}
	return rows(st, nil)
}
