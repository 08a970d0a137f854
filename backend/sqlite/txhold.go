package sqlite

import (
	"context"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
)

// heldWhere returns the SQL condition for a query, with its arguments. The index has few rows, since it has only
// those that are held.
func heldWhere(index string, q backend.HeldQuery) (sql string, args []any) {
	indexed := " INDEXED BY " + index + " WHERE hold <> 0"
	switch {
	case q.Import != 0:
		return indexed + " AND hold BETWEEN ? AND ?", []any{int64(backend.HeldBy(q.Import)), int64(backend.HeldBy(q.Import).Most())}
	case q.ID != 0:
		return " WHERE id = ?", []any{q.ID}
	case q.Free != 0:
		return " WHERE hold = 0 AND campaign_id = ?", []any{q.Free}
	}
	return indexed, nil
}

const heldOrder = " AND id > ? ORDER BY id LIMIT ?"

// LoadHeldCampaigns implements upsert.Backend.
func (t *tx) LoadHeldCampaigns(_ context.Context, q backend.HeldQuery, after uint64, limit int) (list []*upsert.CampaignRow, err error) {
	where, args := heldWhere("campaign_hold", q)
	err = t.c.query("SELECT advertiser_id, name, "+storedCampaigns+" FROM campaign"+where+heldOrder, func(st *zs.Stmt) error {
		key := upsert.Name{Owner: uint64(st.ColumnInt64(0)), Name: st.ColumnText(1)}
		list = append(list, storedCampaign(st, 2, key))
		return nil
	}, append(args, after, int64(limit))...)
	return list, err
}

// LoadHeldGroups implements upsert.Backend.
func (t *tx) LoadHeldGroups(_ context.Context, q backend.HeldQuery, after uint64, limit int) (list []*upsert.GroupRow, err error) {
	where, args := heldWhere("ad_group_hold", q)
	err = t.c.query("SELECT campaign_id, name, "+storedGroups+" FROM ad_group"+where+heldOrder, func(st *zs.Stmt) error {
		key := upsert.Name{Owner: uint64(st.ColumnInt64(0)), Name: st.ColumnText(1)}
		list = append(list, storedGroup(st, 2, key))
		return nil
	}, append(args, after, int64(limit))...)
	return list, err
}

// RenameCampaign implements upsert.Backend.
func (t *tx) RenameCampaign(_ context.Context, r *upsert.CampaignRow, name string) error {
	h := &t.sums.h
	by := h.campaign(r.ID, r.Key.Owner, name, &r.Before) - h.campaign(r.ID, r.Key.Owner, r.Key.Name, &r.Before)
	err := t.sums.change(backend.KindCampaign, r.ID, by)
	if err == nil {
		err = t.write("UPDATE campaign SET name = ? WHERE id = ?", name, r.ID)
	}
	return err
}

// RenameGroup implements upsert.Backend.
func (t *tx) RenameGroup(_ context.Context, r *upsert.GroupRow, name string) error {
	h := &t.sums.h
	by := h.group(r.ID, r.Key.Owner, name, &r.Before) - h.group(r.ID, r.Key.Owner, r.Key.Name, &r.Before)
	err := t.sums.change(backend.KindGroup, r.ID, by)
	if err == nil {
		err = t.write("UPDATE ad_group SET name = ? WHERE id = ?", name, r.ID)
	}
	return err
}
