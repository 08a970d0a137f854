package sqlite

import (
	"context"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
)

// reportRemoval reports the removal of an advertiser, campaign or group that is about to be deleted, and of
// everything that it holds. Everything must have been flushed.
func (t *tx) reportRemoval(entity backend.Entity, id uint64) error {
	if !t.Watched() {
		return nil
	}
	for _, q := range removalQueries(entity) {
		err := t.c.query(q.sql, func(st *zs.Stmt) error {
			t.Report(q.entity, uint64(st.ColumnInt64(0)), backend.Removed)
			return nil
		}, id)
		if err != nil {
			return err
		}
	}
	return nil
}

type removalQuery struct {
	entity backend.Entity
	sql    string
}

// removalQueries returns queries for the ids of an entity and of everything that it holds. The parameter is the
// entity's id.
func removalQueries(entity backend.Entity) (list []removalQuery) {
	add := func(entity backend.Entity, sql string) { list = append(list, removalQuery{entity, sql}) }
	campaigns, groups := "SELECT id FROM campaign WHERE id = ?1", "SELECT id FROM ad_group WHERE id = ?1"
	if entity == backend.EntityAdvertiser {
		campaigns = "SELECT id FROM campaign WHERE advertiser_id = ?1"
		add(backend.EntityAdvertiser, "SELECT id FROM advertiser WHERE id = ?1")
		add(backend.EntityNegative, "SELECT id FROM advertiser_negative WHERE advertiser_id = ?1")
	}
	if entity != backend.EntityGroup {
		groups = "SELECT id FROM ad_group WHERE campaign_id IN (" + campaigns + ")"
		add(backend.EntityCampaign, campaigns)
		add(backend.EntityNegative, "SELECT id FROM campaign_negative WHERE campaign_id IN ("+campaigns+")")
	}
	add(backend.EntityGroup, groups)
	add(backend.EntityKeyword, "SELECT id FROM keyword WHERE group_id IN ("+groups+")")
	add(backend.EntityNegative, "SELECT id FROM group_negative WHERE group_id IN ("+groups+")")
	add(backend.EntityAd, "SELECT id FROM ad WHERE group_id IN ("+groups+")")
	return list
}

// Names implements backend.Tx.
func (t *tx) Names(ctx context.Context, advertiser uint64, limit int) (names []string, err error) {
	if err := t.Ready(ctx); err != nil {
		return nil, err
	}
	sql, args := "SELECT name FROM advertiser LIMIT ?", []any{int64(limit)}
	if advertiser != 0 {
		sql, args = "SELECT name FROM campaign WHERE advertiser_id = ? LIMIT ?", []any{advertiser, int64(limit)}
	}
	err = t.c.query(sql, func(st *zs.Stmt) error {
		names = append(names, st.ColumnText(0))
		return nil
	}, args...)
	return names, t.Fail(ctx, err)
}
