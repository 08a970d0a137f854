package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"adshard/backend/upsert"
	"adshard/fault"
)

// CreateAdvertiser implements upsert.Backend. It waits for another transaction that makes
// the same one.
func (t *tx) CreateAdvertiser(ctx context.Context, r *upsert.AdvertiserRow) error {
	id, err := t.next("advertiser")(ctx)
	if err != nil {
		return err
	}
	tag, err := t.c.Exec(ctx, "INSERT INTO adshard.advertiser (id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", int64(id), r.Key)
	if tag.RowsAffected() > 0 {
		r.ID = id
	}
	return err
}

// CreateCampaign implements upsert.Backend.
func (t *tx) CreateCampaign(ctx context.Context, r *upsert.CampaignRow) error {
	id, err := t.next("campaign")(ctx)
	if err != nil {
		return err
	}
	v := r.Now
	tag, err := t.c.Exec(ctx, `INSERT INTO adshard.campaign (id, advertiser_id, name, enabled, daily_budget, desktop, mobile, tablet,
  languages, rotate_evenly, standard_delivery, hold) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  ON CONFLICT (advertiser_id, name) DO NOTHING`,
		int64(id), int64(r.Key.Owner), r.Key.Name, v.Enabled, column(v.Budget),
		column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]), v.Languages, v.RotateEvenly, v.StandardDelivery, int64(v.Hold))
	if tag.RowsAffected() > 0 {
		r.ID = id
	}
	return err
}

// CreateGroup implements upsert.Backend. Groups are written together.
func (t *tx) CreateGroup(ctx context.Context, r *upsert.GroupRow) (err error) {
	advertiser, err := t.ownerOf(ctx, r.Key.Owner)
	if err == nil && advertiser == 0 {
		err = fault.Newf(fault.NotFound, "postgres: write", "there is no campaign %d", r.Key.Owner)
	}
	if err == nil {
		r.ID, err = t.next("ad_group")(ctx)
	}
	if err == nil {
		t.fresh = append(t.fresh, r)
	}
	return err
}

// UpdateAdvertisers implements upsert.Backend.
func (t *tx) UpdateAdvertisers(ctx context.Context, rows []*upsert.AdvertiserRow) error {
	b := &pgx.Batch{}
	for _, r := range rows {
		b.Queue("UPDATE adshard.advertiser SET enabled = $2, time_zone = $3 WHERE id = $1", int64(r.ID), r.Now.Enabled, r.Now.TimeZone)
	}
	return t.send(ctx, b)
}

// send runs statements in one round trip.
func (t *tx) send(ctx context.Context, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	return t.c.SendBatch(ctx, b).Close()
}

// UpdateCampaigns implements upsert.Backend.
func (t *tx) UpdateCampaigns(ctx context.Context, rows []*upsert.CampaignRow) error {
	b := &pgx.Batch{}
	for _, r := range rows {
		v := r.Now
		b.Queue(`UPDATE adshard.campaign SET enabled = $2, daily_budget = $3, desktop = $4, mobile = $5, tablet = $6,
  languages = $7, rotate_evenly = $8, standard_delivery = $9 WHERE id = $1`, int64(r.ID), v.Enabled, column(v.Budget),
			column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]), v.Languages, v.RotateEvenly, v.StandardDelivery)
		queueHold(b, "campaign", r.ID, r.Before.Hold, v.Hold)
	}
	return t.send(ctx, b)
}

// UpdateGroups implements upsert.Backend; new groups come first.
func (t *tx) UpdateGroups(ctx context.Context, rows []*upsert.GroupRow) error {
	if err := t.insertGroups(ctx); err != nil {
		return err
	}
	b := &pgx.Batch{}
	for _, r := range rows {
		if v := r.Now; v != r.Before {
			b.Queue("UPDATE adshard.ad_group SET enabled = $2, bid = $3, desktop = $4, mobile = $5, tablet = $6 WHERE id = $1",
				int64(r.ID), v.Enabled, column(v.Bid), column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]))
			queueHold(b, "ad_group", r.ID, r.Before.Hold, v.Hold)
		}
	}
	return t.send(ctx, b)
}

func (t *tx) insertGroups(ctx context.Context) error {
	fresh := t.fresh
	if len(fresh) == 0 {
		return nil
	}
	if err := t.lockHolds(ctx, fresh); err != nil {
		return err
	}
	t.fresh = nil
	columns := []string{"id", "campaign_id", "advertiser_id", "name", "enabled", "bid", "desktop", "mobile", "tablet", "hold"}
	_, err := t.c.CopyFrom(ctx, pgx.Identifier{"adshard", "ad_group"}, columns, pgx.CopyFromSlice(len(fresh), func(i int) ([]any, error) {
		r := fresh[i]
		v := r.Now
		return []any{int64(r.ID), int64(r.Key.Owner), int64(t.Owner(r.Key.Owner)), r.Key.Name, v.Enabled, column(v.Bid),
			column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]), int64(v.Hold)}, nil
	}))
	for _, r := range fresh {
		r.Before = r.Now
	}
	return err
}

// column is a number as written.
func column(o upsert.Optional) any {
	if !o.Has {
		return nil
	}
	return int64(o.N)
}
