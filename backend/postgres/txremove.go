package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
)

// remove deletes an advertiser or campaign with all it holds. The cache is
// emptied: removals are rare.
func (t *tx) remove(ctx context.Context, entity backend.Entity, id uint64) error {
	if err := t.flushAndForget(ctx); err != nil {
		return err
	}
	if err := t.reportRemoval(ctx, entity, id); err != nil {
		return err
	}
	table := "adshard.campaign"
	if entity == backend.EntityAdvertiser {
		table = "adshard.advertiser"
	}
	return t.exec(ctx, "DELETE FROM "+table+" WHERE id = $1", int64(id))
}

func (t *tx) removeGroup(ctx context.Context, r *groupRow) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	delete(t.groups, r.key)
	t.keywords.ForgetOwner(r.id)
	t.negatives.ForgetOwner(r.id)
	t.ads.ForgetOwner(r.id)
	if err := t.reportRemoval(ctx, backend.EntityGroup, r.id); err != nil {
		return err
	}
	return t.exec(ctx, "DELETE FROM adshard.ad_group WHERE id = $1", int64(r.id))
}

// Watch implements backend.Tx.
func (t *tx) Watch(w backend.Watcher) { t.watch = w }

// report hands an effect to the watcher, if there is one.
func (t *tx) report(entity backend.Entity, id uint64, effect backend.Effect) {
	if t.watch != nil {
		t.watch(entity, id, effect)
	}
}

// reportRemoval reports an advertiser, campaign or group that is about to be
// deleted, with all it holds. Everything must be in the database.
func (t *tx) reportRemoval(ctx context.Context, entity backend.Entity, id uint64) error {
	if t.watch == nil {
		return nil
	}
	b := &pgx.Batch{}
	add := func(entity backend.Entity, sql string) {
		b.Queue(sql, int64(id)).Query(func(rows pgx.Rows) error {
			var id uint64
			_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
				t.report(entity, id, backend.Removed)
				return nil
			})
			return err
		})
	}
	campaigns, groups := "SELECT id FROM adshard.campaign WHERE id = $1", "SELECT id FROM adshard.ad_group WHERE id = $1"
	if entity == backend.EntityAdvertiser {
		campaigns = "SELECT id FROM adshard.campaign WHERE advertiser_id = $1"
		add(backend.EntityAdvertiser, "SELECT id FROM adshard.advertiser WHERE id = $1")
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
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	sql, args := "SELECT name FROM adshard.advertiser LIMIT $1", []any{limit}
	if advertiser != 0 {
		sql, args = "SELECT name FROM adshard.campaign WHERE advertiser_id = $2 LIMIT $1", []any{limit, int64(advertiser)}
	}
	rows, _ := t.c.Query(ctx, sql, args...)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, t.fail(ctx, err)
}

// FindAdvertiser implements backend.Tx.
func (t *tx) FindAdvertiser(ctx context.Context, name string) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findAdvertiser(ctx, name)
	if err != nil || r == nil {
		return 0, t.fail(ctx, err)
	}
	return r.id, nil
}

// FindCampaign implements backend.Tx.
func (t *tx) FindCampaign(ctx context.Context, advertiser uint64, name string) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findCampaign(ctx, ownedName{advertiser, name})
	if err != nil || r == nil {
		return 0, t.fail(ctx, err)
	}
	return r.id, nil
}

// FindGroup implements backend.Tx.
func (t *tx) FindGroup(ctx context.Context, campaign uint64, name string) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findGroup(ctx, ownedName{campaign, name})
	if err != nil || r == nil {
		return 0, t.fail(ctx, err)
	}
	return r.id, nil
}
