package postgres

import (
	"bytes"
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/fault"
)

// tables maps kinds to their tables and the columns that name the owner, or "" if there is no owner.
var tables = map[backend.Kind]struct{ name, owner string }{
	backend.KindAdvertiser: {"adshard.advertiser", ""},
	backend.KindCampaign:   {"adshard.campaign", "advertiser_id"},
	backend.KindGroup:      {"adshard.ad_group", "campaign_id"},
}

// Lock implements backend.Tx. Every change of what the entity holds locks the entity's row, too.
func (t *tx) Lock(ctx context.Context, kind backend.Kind, id uint64) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	found, err, one := false, error(nil), 0
	if id <= math.MaxInt64 {
		found, err = t.one(ctx, "SELECT 1 FROM "+tables[kind].name+" WHERE id = $1 FOR NO KEY UPDATE", []any{int64(id)}, &one)
	}
	if err != nil {
		return t.Fail(ctx, err)
	}
	if !found {
		return fault.Newf(fault.NotFound, "postgres: lock", "there is no %v %d", kind, id)
	}
	return nil
}

// Expect implements backend.Tx. It locks the key's row, so that other transactions that save the key wait.
func (t *tx) Expect(ctx context.Context, key string, value []byte) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	var now []byte
	found, err := t.one(ctx, "SELECT value FROM adshard.control WHERE key = $1 FOR SHARE", []any{key}, &now)
	if err != nil {
		return t.Fail(ctx, err)
	}
	if !found || !bytes.Equal(now, value) {
		return fault.Newf(fault.Conflict, "postgres: write", "%s has a different value than expected", key)
	}
	return nil
}

// Receipt implements backend.Tx.
func (t *tx) Receipt(ctx context.Context, key string, answer []byte, at time.Time) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	name, keep := backend.ReceiptKey(key, at)
	if answer == nil {
		answer = []byte{} // not NULL
	}
	err := t.exec(ctx, "DELETE FROM adshard.control WHERE key > $1 AND key < $2", backend.ReceiptsBegin, keep)
	if err == nil {
		err = t.exec(ctx, "INSERT INTO adshard.control (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value",
			name, answer)
	}
	return t.Fail(ctx, err)
}

// IDs implements backend.Snapshot.
func (n *snapshot) IDs(ctx context.Context, kind backend.Kind, owner, after uint64, limit int) (ids []uint64, err error) {
	if owner > math.MaxInt64 || after > math.MaxInt64 {
		return nil, nil
	}
	of := tables[kind]
	sql, args := "SELECT id FROM "+of.name+" WHERE id > $1", []any{int64(after), limit}
	if owner != 0 {
		sql, args = sql+" AND "+of.owner+" = $3", append(args, int64(owner))
	}
	err = n.read(ctx, "read ids", func(ctx context.Context, c *pgx.Conn) error {
		rows, _ := c.Query(ctx, sql+" ORDER BY id LIMIT $2", args...)
		ids, err = pgx.CollectRows(rows, pgx.RowTo[uint64])
		return err
	})
	return ids, err
}
