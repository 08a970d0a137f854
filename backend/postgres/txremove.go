package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
)

// Remove implements upsert.Backend.
func (t *tx) Remove(ctx context.Context, entity backend.Entity, id uint64) error {
	if err := t.reportRemoval(ctx, entity, id); err != nil {
		return err
	}
	table := map[backend.Entity]string{
		backend.EntityAdvertiser: "advertiser", backend.EntityCampaign: "campaign", backend.EntityGroup: "ad_group",
	}[entity]
	return t.exec(ctx, "DELETE FROM adshard."+table+" WHERE id = $1", int64(id))
}

// reportRemoval reports the removal of an advertiser, campaign or group that is about to be deleted, and of
// everything that it holds. Everything must have been flushed.
func (t *tx) reportRemoval(ctx context.Context, entity backend.Entity, id uint64) error {
	if !t.Watched() {
		return nil
	}
	b := &pgx.Batch{}
	add := func(entity backend.Entity, sql string) {
		b.Queue(sql, int64(id)).Query(func(rows pgx.Rows) error {
			var id uint64
			_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
				t.Report(entity, id, backend.Removed)
				return nil
			})
			return err
		})
	}
	campaigns, groups := "SELECT id FROM adshard.campaign WHERE id = $1", "SELECT id FROM adshard.ad_group WHERE id = $1"
	if entity == backend.EntityAdvertiser {
		campaigns = "SELECT id FROM adshard.campaign WHERE advertiser_id = $1"
		add(backend.EntityAdvertiser, "SELECT id FROM adshard.advertiser WHERE id = $1")
		add(backend.EntityNegative, "SELECT id FROM adshard.advertiser_negative WHERE advertiser_id = $1")
	}
	if entity != backend.EntityGroup {
		groups = "SELECT id FROM adshard.ad_group WHERE campaign_id IN (" + campaigns + ")"
		add(backend.EntityCampaign, campaigns)
		add(backend.EntityNegative, "SELECT id FROM adshard.campaign_negative WHERE campaign_id IN ("+campaigns+")")
	}
	add(backend.EntityGroup, groups)
	add(backend.EntityKeyword, "SELECT id FROM adshard.keyword WHERE group_id IN ("+groups+")")
	add(backend.EntityNegative, "SELECT id FROM adshard.group_negative WHERE group_id IN ("+groups+")")
	add(backend.EntityAd, "SELECT id FROM adshard.ad WHERE group_id IN ("+groups+")")
	return t.c.SendBatch(ctx, b).Close()
}

// Names implements backend.Tx.
func (t *tx) Names(ctx context.Context, advertiser uint64, limit int) ([]string, error) {
	if err := t.Ready(ctx); err != nil {
		return nil, err
	}
	sql, args := "SELECT name FROM adshard.advertiser LIMIT $1", []any{limit}
	if advertiser != 0 {
		sql, args = "SELECT name FROM adshard.campaign WHERE advertiser_id = $2 LIMIT $1", []any{limit, int64(advertiser)}
	}
	rows, _ := t.c.Query(ctx, sql, args...)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, t.Fail(ctx, err)
}
