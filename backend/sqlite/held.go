package sqlite

import (
	"strings"

	zs "zombiezen.com/go/sqlite"
)

// held is one table of what groups or campaigns hold: its rows as the
// transaction knows them, by owner and natural key K, with values V.
type held[K, V comparable] struct {
	t      *tx
	sql    heldSQL[K, V]
	last   *uint64 // the last id given
	owners map[uint64]map[K]*row[K, V]
	queue  []*row[K, V] // those that may differ from the database
	size   int          // of owners: one for each and one for each row

	inserts [2]*zs.Stmt // of one row, of many; prepared on first use
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

// heldSQL is how a table is read and written.
type heldSQL[K, V comparable] struct {
	// load reads id, key and value of the rows of an owner.
	load string
	scan func(st *zs.Stmt) (id uint64, key K, value V)
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

func newHeld[K, V comparable](t *tx, sql heldSQL[K, V], last *uint64) held[K, V] {
	return held[K, V]{t: t, sql: sql, last: last, owners: make(map[uint64]map[K]*row[K, V])}
}

// created says that an owner is new and holds nothing yet.
func (h *held[K, V]) created(owner uint64) {
	h.owners[owner] = make(map[K]*row[K, V])
	h.size++
}

// rows returns what an owner holds.
func (h *held[K, V]) rows(owner uint64) (map[K]*row[K, V], error) {
	if m, ok := h.owners[owner]; ok {
		return m, nil
	}
	m := make(map[K]*row[K, V])
	err := h.t.c.query(h.sql.load, func(st *zs.Stmt) error {
		id, key, value := h.sql.scan(st)
		m[key] = &row[K, V]{owner: owner, id: id, key: key, now: value, before: value, exists: true}
		return nil
	}, owner)
	if err != nil {
		return nil, err
	}
	h.owners[owner] = m
	h.size += 1 + len(m)
	return m, nil
}

// put changes the row with this key, or makes one from the default value.
func (h *held[K, V]) put(owner uint64, key K, initial V, change func(*V)) error {
	m, err := h.rows(owner)
	if err != nil {
		return err
	}
	r := m[key]
	if r == nil {
		*h.last++
		r = &row[K, V]{owner: owner, id: *h.last, key: key, now: initial}
		m[key] = r
		h.size++
	}
	change(&r.now)
	if !r.exists || r.now != r.before {
		return h.enqueue(r)
	}
	return nil
}

// remove takes the row with this key away, if there is one.
func (h *held[K, V]) remove(owner uint64, key K) error {
	m, err := h.rows(owner)
	if err != nil {
		return err
	}
	r := m[key]
	if r == nil {
		return nil
	}
	delete(m, key)
	r.gone = true
	return h.enqueue(r)
}

func (h *held[K, V]) enqueue(r *row[K, V]) error {
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
func (h *held[K, V]) flush() error {
	fresh := h.queue[:0:0]
	for _, r := range h.queue {
		r.queued = false
		switch {
		case r.gone && r.exists:
			if err := h.execute(h.sql.remove, r, false); err != nil {
				return err
			}
		case r.gone:
		case !r.exists:
			fresh = append(fresh, r)
		case r.now != r.before:
			if err := h.execute(h.sql.update, r, true); err != nil {
				return err
			}
			r.before = r.now
		}
	}
	clear(h.queue)
	h.queue = h.queue[:0]
	return h.insert(fresh)
}

// execute runs update or remove: value (if any), owner, key.
func (h *held[K, V]) execute(sql string, r *row[K, V], value bool) error {
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
func (h *held[K, V]) insert(fresh []*row[K, V]) error {
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

func (h *held[K, V]) insertTogether(fresh []*row[K, V], which int) error {
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

// forgetOwner drops what is known of an owner that was removed.
func (h *held[K, V]) forgetOwner(owner uint64) {
	h.size -= len(h.owners[owner])
	delete(h.owners, owner)
}
