package sqlite

import (
	"strings"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
)

// children is one table of what groups or campaigns contain (keywords, negatives,
// ads): the rows cached by the transaction, by owner and natural key K, with
// values V.
type children[K, V comparable] struct {
	t      *tx
	sql    childSQL[K, V]
	last   *uint64 // the last id given
	owners map[uint64]*childRows[K, V]
	queue  []*row[K, V] // those that may differ from the database
	size   int          // of owners: one for each and one for each row

	inserts [2]*zs.Stmt // of one row, of many; prepared on first use
}

// childRows is the cached rows of one owner.
type childRows[K, V comparable] struct {
	// rows is by key; nil: there is no such row.
	rows map[K]*row[K, V]
	// whole is set if rows is complete; otherwise the owner has too many, and
	// they are looked up one by one.
	whole bool
}

// row is one entity.
type row[K, V comparable] struct {
	owner, id   uint64
	key         K
	now, before V    // wanted; in the database
	exists      bool // in the database
	gone        bool // removed
	queued      bool
}

// childSQL is how a table is read and written.
type childSQL[K, V comparable] struct {
	entity backend.Entity
	// kind is that of the owners, in whose sum hash counts.
	kind backend.Kind
	hash func(h *hasher, owner, id uint64, key K, value V) sum
	// load reads id, key and value of the rows of an owner; byKey, appended to
	// it, restricts it to one key.
	load, byKey string
	scan        func(st *zs.Stmt) (id uint64, key K, value V)
	// insert is followed by as many placeholders as there are rows, each of
	// columns parameters: owner, key, id, value.
	insert  string
	columns int
	// update sets the value of a row; remove deletes it.
	update, remove string
	bindKey        func(st *zs.Stmt, at int, key K) int
	bindValue      func(st *zs.Stmt, at int, value V) int
}

// manyRows is how many rows one INSERT writes; more gain nothing.
const manyRows = 16

func newChildren[K, V comparable](t *tx, sql childSQL[K, V], last *uint64) children[K, V] {
	return children[K, V]{t: t, sql: sql, last: last, owners: make(map[uint64]*childRows[K, V])}
}

// created records that an owner is new and has no rows yet.
func (h *children[K, V]) created(owner uint64) {
	h.owners[owner] = &childRows[K, V]{rows: make(map[K]*row[K, V]), whole: true}
	h.size++
}

// wholeShare is the share of the cache, one part in so many, that the rows of one
// owner may fill.
const wholeShare = 8

// rowsOf returns the rows of an owner; it reads all of them at once unless there
// are too many.
func (h *children[K, V]) rowsOf(owner uint64) (*childRows[K, V], error) {
	if o, ok := h.owners[owner]; ok {
		return o, nil
	}
	o := &childRows[K, V]{rows: make(map[K]*row[K, V])}
	most := int64(1 + h.t.s.limits.cached/wholeShare)
	err := h.t.c.query(h.sql.load+" LIMIT ?", func(st *zs.Stmt) error {
		r := h.read(st, owner)
		o.rows[r.key] = r
		return nil
	}, owner, most)
	if err != nil {
		return nil, err
	}
	o.whole = int64(len(o.rows)) < most
	h.owners[owner] = o
	h.size += 1 + len(o.rows)
	return o, nil
}

func (h *children[K, V]) read(st *zs.Stmt, owner uint64) *row[K, V] {
	id, key, value := h.sql.scan(st)
	return &row[K, V]{owner: owner, id: id, key: key, now: value, before: value, exists: true}
}

// find returns the row of an owner with this key; nil: there is none.
func (h *children[K, V]) find(o *childRows[K, V], owner uint64, key K) (*row[K, V], error) {
	r, ok := o.rows[key]
	if ok || o.whole {
		return r, nil
	}
	st, err := h.t.c.Prepare(h.sql.load + h.sql.byKey)
	if err != nil {
		return nil, err
	}
	st.BindInt64(1, int64(owner))
	h.sql.bindKey(st, 2, key)
	if err := rows(st, func(st *zs.Stmt) error { r = h.read(st, owner); return nil }); err != nil {
		return nil, err
	}
	if r != nil {
		o.rows[key] = r
		h.size++
	}
	return r, nil
}

// put changes the row with this key, or makes one from the default value.
func (h *children[K, V]) put(owner uint64, key K, initial V, change func(*V)) error {
	o, err := h.rowsOf(owner)
	if err != nil {
		return err
	}
	r, err := h.find(o, owner, key)
	if err != nil {
		return err
	}
	effect := backend.Named
	if r == nil {
		*h.last++
		r = &row[K, V]{owner: owner, id: *h.last, key: key, now: initial}
		o.rows[key] = r
		h.size++
		effect = backend.Created
	}
	h.t.report(h.sql.entity, r.id, effect)
	change(&r.now)
	if !r.exists || r.now != r.before {
		return h.enqueue(r)
	}
	return nil
}

// remove takes the row with this key away, if there is one.
func (h *children[K, V]) remove(owner uint64, key K) error {
	o, err := h.rowsOf(owner)
	if err != nil {
		return err
	}
	r, err := h.find(o, owner, key)
	if r == nil || err != nil {
		return err
	}
	o.rows[key] = nil // not deleted: the database still has it until the flush
	r.gone = true
	h.t.report(h.sql.entity, r.id, backend.Removed)
	return h.enqueue(r)
}

func (h *children[K, V]) enqueue(r *row[K, V]) error {
	if !r.queued {
		r.queued = true
		h.queue = append(h.queue, r)
	}
	if len(h.queue) < h.t.s.limits.queued {
		return nil
	}
	return h.flush()
}

// flush writes the queue: removed rows first, since a new row may have their
// key.
func (h *children[K, V]) flush() error {
	fresh := h.queue[:0:0]
	for _, r := range h.queue {
		r.queued = false
		switch {
		case r.gone && r.exists:
			if err := h.sum(r, -h.hash(r, r.before)); err != nil {
				return err
			}
			if err := h.execute(h.sql.remove, r, false); err != nil {
				return err
			}
		case r.gone:
		case !r.exists:
			fresh = append(fresh, r)
		case r.now != r.before:
			if err := h.sum(r, h.hash(r, r.now)-h.hash(r, r.before)); err != nil {
				return err
			}
			if err := h.execute(h.sql.update, r, true); err != nil {
				return err
			}
			r.before = r.now
			h.t.report(h.sql.entity, r.id, backend.Changed)
		}
	}
	clear(h.queue)
	h.queue = h.queue[:0]
	return h.insert(fresh)
}

func (h *children[K, V]) hash(r *row[K, V], v V) sum {
	return h.sql.hash(&h.t.sums.h, r.owner, r.id, r.key, v)
}

// sum adds to the sum of a row's owner, before the row is written.
func (h *children[K, V]) sum(r *row[K, V], by sum) error {
	return h.t.sums.change(h.sql.kind, r.owner, by)
}

// execute runs update or remove: value (if any), owner, key.
func (h *children[K, V]) execute(sql string, r *row[K, V], value bool) error {
	if err := h.t.announce(); err != nil {
		return err
	}
	st, err := h.t.c.Prepare(sql)
	if err != nil {
		return err
	}
	at := 1
	if value {
		at = h.sql.bindValue(st, at, r.now)
	}
	st.BindInt64(at, int64(r.owner))
	h.sql.bindKey(st, at+1, r.key)
	return rows(st, nil)
}

// insert writes new rows, many to a statement.
func (h *children[K, V]) insert(fresh []*row[K, V]) error {
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

func (h *children[K, V]) insertTogether(fresh []*row[K, V], which int) error {
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
		if err := h.sum(r, h.hash(r, r.now)); err != nil {
			return err
		}
		st.BindInt64(at, int64(r.owner))
		at = h.sql.bindKey(st, at+1, r.key)
		st.BindInt64(at, int64(r.id))
		at = h.sql.bindValue(st, at+1, r.now)
	}
	if err := rows(st, nil); err != nil {
		return err
	}
	for _, r := range fresh {
		r.exists, r.before = true, r.now
	}
	return nil
}

// forgetOwner drops the rows of a removed owner.
func (h *children[K, V]) forgetOwner(owner uint64) {
	if o := h.owners[owner]; o != nil {
		h.size -= 1 + len(o.rows)
	}
	delete(h.owners, owner)
}
