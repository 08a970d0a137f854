package sqlite

import (
	"bytes"
	"context"
	"math"
	"time"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

// owners maps kinds to the columns that name their owners.
var owners = map[backend.Kind]string{backend.KindCampaign: "advertiser_id", backend.KindGroup: "campaign_id"}

// Lock implements backend.Tx. There is only one writer at a time, so it only checks that the entity exists.
func (t *tx) Lock(ctx context.Context, kind backend.Kind, id uint64) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	found, err := int64(0), error(nil)
	if id <= math.MaxInt64 {
		found, err = t.c.number("SELECT count(*) FROM "+tables[kind]+" WHERE id = ?", int64(id))
	}
	if err != nil {
		return t.Fail(ctx, err)
	}
	if found == 0 {
		return fault.Newf(fault.NotFound, "sqlite: lock", "there is no %v %d", kind, id)
	}
	return nil
}

// Expect implements backend.Tx. There is only one writer at a time, so it only compares the value.
func (t *tx) Expect(ctx context.Context, key string, value []byte) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	now, err := t.c.control(key)
	if err != nil {
		return t.Fail(ctx, err)
	}
	if now == nil || !bytes.Equal(now, value) {
		return fault.Newf(fault.Conflict, "sqlite: write", "%s has a different value than expected", key)
	}
	return nil
}

// Receipt implements backend.Tx.
func (t *tx) Receipt(ctx context.Context, key string, answer []byte, at time.Time) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	name, keep := backend.ReceiptKey(key, at)
	err := t.c.exec("DELETE FROM control WHERE key > ? AND key < ?", backend.ReceiptsBegin, keep)
	if err == nil {
		err = t.c.setControl(name, answer)
	}
	return t.Fail(ctx, err)
}

// IDs implements backend.Snapshot.
func (n *snapshot) IDs(ctx context.Context, kind backend.Kind, owner, after uint64, limit int) (ids []uint64, err error) {
	if owner > math.MaxInt64 || after > math.MaxInt64 {
		return nil, nil
	}
	table := tables[kind]
	sql, args := "SELECT id FROM "+table+" WHERE id > ? ORDER BY id LIMIT ?", []any{int64(after), int64(limit)}
	if owner != 0 {
		// The plus makes SQLite use the index on the owner; few rows are then left to sort.
		sql = "SELECT id FROM " + table + " WHERE +id > ? AND " + owners[kind] + " = ? ORDER BY +id LIMIT ?"
		args = []any{int64(after), int64(owner), int64(limit)}
	}
	err = n.read(ctx, "read ids", func(c *conn) error {
		return c.query(sql, func(st *zs.Stmt) error {
			ids = append(ids, uint64(st.ColumnInt64(0)))
			return nil
		}, args...)
	})
	return ids, err
}
