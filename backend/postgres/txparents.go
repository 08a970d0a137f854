package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"adshard/backend/upsert"
	"adshard/fault"
)

// CreateAdvertiser implements upsert.Backend. It waits for another transaction that is creating the same advertiser.
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
	args := appendCampaign([]any{int64(id), int64(r.Key.Owner), r.Key.Name, int64(r.Now.Hold)}, &r.Now)
	tag, err := t.c.Exec(ctx, "INSERT INTO adshard.campaign (id, advertiser_id, name, hold, "+campaignColumns+") VALUES ("+places(len(args))+
		") ON CONFLICT (advertiser_id, name) DO NOTHING", args...)
	if tag.RowsAffected() > 0 {
		r.ID = id
	}
	return err
}

// CreateGroup implements upsert.Backend. New groups are written together later.
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
		b.Queue("UPDATE adshard.advertiser SET "+advertiserSetters+" WHERE id = $1", appendAdvertiser([]any{int64(r.ID)}, &r.Now)...)
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
		b.Queue("UPDATE adshard.campaign SET "+campaignSetters+" WHERE id = $1", appendCampaign([]any{int64(r.ID)}, &r.Now)...)
		queueHold(b, "campaign", r.ID, r.Before.Hold, r.Now.Hold)
	}
	return t.send(ctx, b)
}

// UpdateGroups implements upsert.Backend. It writes new groups first.
func (t *tx) UpdateGroups(ctx context.Context, rows []*upsert.GroupRow) error {
	if err := t.insertGroups(ctx); err != nil {
		return err
	}
	b := &pgx.Batch{}
	for _, r := range rows {
		if r.Now != r.Before {
			b.Queue("UPDATE adshard.ad_group SET "+groupSetters+" WHERE id = $1", appendGroup([]any{int64(r.ID)}, &r.Now)...)
			queueHold(b, "ad_group", r.ID, r.Before.Hold, r.Now.Hold)
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
	columns := append([]string{"id", "campaign_id", "advertiser_id", "name", "hold"}, strings.Split(groupColumns, ", ")...)
	_, err := t.c.CopyFrom(ctx, pgx.Identifier{"adshard", "ad_group"}, columns, pgx.CopyFromSlice(len(fresh), func(i int) ([]any, error) {
		r := fresh[i]
		args := append(make([]any, 0, len(columns)), int64(r.ID), int64(r.Key.Owner), int64(t.Owner(r.Key.Owner)), r.Key.Name, int64(r.Now.Hold))
		return appendGroup(args, &r.Now), nil
	}))
	for _, r := range fresh {
		r.Before = r.Now
	}
	return err
}

// places returns SQL for n parameters.
func places(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "$" + strconv.Itoa(i+1)
	}
	return strings.Join(list, ", ")
}
