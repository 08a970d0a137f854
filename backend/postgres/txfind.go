package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"adshard/backend/upsert"
)

// one runs a query for at most one row and reports whether it returned one.
func (t *tx) one(ctx context.Context, sql string, args []any, to ...any) (bool, error) {
	err := t.c.QueryRow(ctx, sql, args...).Scan(to...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// LoadAdvertiser implements upsert.Backend.
func (t *tx) LoadAdvertiser(ctx context.Context, name string) error {
	return t.loadAdvertiser(ctx, "name = $1", name)
}

// LoadAdvertiserByID implements upsert.Backend.
func (t *tx) LoadAdvertiserByID(ctx context.Context, id uint64) error {
	return t.loadAdvertiser(ctx, "id = $1", int64(id))
}

func (t *tx) loadAdvertiser(ctx context.Context, where string, arg any) error {
	var id uint64
	var name string
	var v advertiserRow
	found, err := t.one(ctx, "SELECT id, name, "+advertiserColumns+" FROM adshard.advertiser WHERE "+where, []any{arg}, v.to(&id, &name)...)
	if found {
		t.KnowAdvertiser(upsert.StoredParent(id, name, *v.done()))
	}
	return err
}

// LoadCampaign implements upsert.Backend. It loads all campaigns of an advertiser at once unless there are too many.
func (t *tx) LoadCampaign(ctx context.Context, key upsert.Name) error {
	if _, known := t.CampaignsOf(key.Owner); !known {
		most := t.Limits.WholeParents()
		n, err := t.readCampaigns(ctx, " WHERE advertiser_id = $1 LIMIT $2", t.KnowCampaign, int64(key.Owner), most+1)
		if err != nil {
			return err
		}
		t.KnowCampaignsOf(key.Owner, n <= most)
		if n <= most {
			return nil
		}
	}
	_, err := t.readCampaigns(ctx, " WHERE advertiser_id = $1 AND name = $2", t.KnowCampaign, int64(key.Owner), key.Name)
	return err
}

// readCampaigns calls f with each campaign and returns the number of campaigns.
func (t *tx) readCampaigns(ctx context.Context, where string, f func(*upsert.CampaignRow), args ...any) (n int, err error) {
	rows, err := t.c.Query(ctx, "SELECT id, advertiser_id, name, hold, "+campaignColumns+" FROM adshard.campaign"+where, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id uint64
		var key upsert.Name
		var v campaignRow
		if err := rows.Scan(v.to(&id, &key.Owner, &key.Name, &v.Hold)...); err != nil {
			return n, err
		}
		f(upsert.StoredParent(id, key, *v.done()))
		n++
	}
	return n, rows.Err()
}

// LoadGroup implements upsert.Backend. It loads all groups of a campaign at once unless there are too many.
func (t *tx) LoadGroup(ctx context.Context, key upsert.Name) error {
	if _, known := t.GroupsOf(key.Owner); !known {
		most := t.Limits.WholeParents()
		n, err := t.readGroups(ctx, " WHERE campaign_id = $1 LIMIT $2", t.KnowGroup, int64(key.Owner), most+1)
		if err != nil {
			return err
		}
		t.KnowGroupsOf(key.Owner, n <= most)
		if n <= most {
			return nil
		}
	}
	_, err := t.readGroups(ctx, " WHERE campaign_id = $1 AND name = $2", t.KnowGroup, int64(key.Owner), key.Name)
	return err
}

// readGroups calls f with each group and returns the number of groups.
func (t *tx) readGroups(ctx context.Context, where string, f func(*upsert.GroupRow), args ...any) (n int, err error) {
	rows, err := t.c.Query(ctx, "SELECT id, campaign_id, name, hold, "+groupColumns+" FROM adshard.ad_group"+where, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id uint64
		var key upsert.Name
		var v groupRow
		if err := rows.Scan(v.to(&id, &key.Owner, &key.Name, &v.Hold)...); err != nil {
			return n, err
		}
		f(upsert.StoredParent(id, key, *v.done()))
		n++
	}
	return n, rows.Err()
}

// ownerOf returns the advertiser of a campaign, or 0 if there is no such campaign.
func (t *tx) ownerOf(ctx context.Context, campaign uint64) (owner uint64, err error) {
	if owner := t.Owner(campaign); owner != 0 {
		return owner, nil
	}
	found, err := t.one(ctx, "SELECT advertiser_id FROM adshard.campaign WHERE id = $1", []any{int64(campaign)}, &owner)
	if found {
		t.KnowOwner(campaign, owner)
	}
	return owner, err
}
