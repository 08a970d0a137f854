package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
)

// heldWhere returns the SQL condition for a query and the wanted page of it, with its arguments.
func heldWhere(q backend.HeldQuery, after uint64, limit int) (sql string, args []any) {
	args = []any{int64(after), limit}
	switch {
	case q.Import != 0:
		sql = " AND hold <> 0 AND hold BETWEEN $3 AND $4"
		args = append(args, int64(backend.HeldBy(q.Import)), int64(backend.HeldBy(q.Import).Most()))
	case q.ID != 0:
		sql, args = " AND id = $3", append(args, int64(q.ID))
	case q.Free != 0:
		sql, args = " AND hold = 0 AND campaign_id = $3", append(args, int64(q.Free))
	default:
		sql = " AND hold <> 0"
	}
	return " WHERE id > $1" + sql + " ORDER BY id LIMIT $2", args
}

// LoadHeldCampaigns implements upsert.Backend.
func (t *tx) LoadHeldCampaigns(ctx context.Context, q backend.HeldQuery, after uint64, limit int) (list []*upsert.CampaignRow, err error) {
	where, args := heldWhere(q, after, limit)
	_, err = t.readCampaigns(ctx, where, func(r *upsert.CampaignRow) { list = append(list, r) }, args...)
	return list, err
}

// LoadHeldGroups implements upsert.Backend.
func (t *tx) LoadHeldGroups(ctx context.Context, q backend.HeldQuery, after uint64, limit int) (list []*upsert.GroupRow, err error) {
	where, args := heldWhere(q, after, limit)
	_, err = t.readGroups(ctx, where, func(r *upsert.GroupRow) { list = append(list, r) }, args...)
	return list, err
}

// RenameCampaign implements upsert.Backend.
func (t *tx) RenameCampaign(ctx context.Context, r *upsert.CampaignRow, name string) error {
	return t.exec(ctx, "UPDATE adshard.campaign SET name = $2 WHERE id = $1", int64(r.ID), name)
}

// RenameGroup implements upsert.Backend.
func (t *tx) RenameGroup(ctx context.Context, r *upsert.GroupRow, name string) error {
	return t.exec(ctx, "UPDATE adshard.ad_group SET name = $2 WHERE id = $1", int64(r.ID), name)
}

// queueHold adds the change of a hold to a batch. Another transaction may have changed the hold since it was read,
// and neither change must be lost: then this transaction fails, and can be repeated.
func queueHold(b *pgx.Batch, table string, id uint64, before, now backend.Hold) {
	if before == now {
		return
	}
	b.Queue("UPDATE adshard."+table+" SET hold = $3 WHERE id = $1 AND hold = $2", int64(id), int64(before), int64(now)).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return fault.Newf(fault.Locked, "postgres: write", "another transaction has changed what holds %s %d: try again", table, id)
		}
		return nil
	})
}

// lockHolds keeps the holds of the new groups' campaigns unchanged until the transaction ends: a group without a hold
// may be kept from being served only by the hold of its campaign.
func (t *tx) lockHolds(ctx context.Context, groups []*upsert.GroupRow) error {
	known := make(map[int64]backend.Hold)
	for _, r := range groups {
		if h := t.HoldOf(r.Key.Owner); h != 0 && r.Now.Hold == 0 {
			known[int64(r.Key.Owner)] = h
		}
	}
	if len(known) == 0 {
		return nil
	}
	rows, _ := t.c.Query(ctx, "SELECT id, hold FROM adshard.campaign WHERE id = ANY($1) ORDER BY id FOR SHARE", slices.Collect(maps.Keys(known)))
	var id int64
	var now backend.Hold
	_, err := pgx.ForEachRow(rows, []any{&id, &now}, func() error {
		if now != known[id] {
			return fault.Newf(fault.Locked, "postgres: write", "another transaction has changed what holds campaign %d: try again", id)
		}
		return nil
	})
	return err
}
