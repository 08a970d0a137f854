package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// one runs a query of at most one row and reports whether there was one.
func (t *tx) one(ctx context.Context, sql string, args []any, to ...any) (bool, error) {
	err := t.c.QueryRow(ctx, sql, args...).Scan(to...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// findAdvertiser returns nil if there is none.
func (t *tx) findAdvertiser(ctx context.Context, name string) (*advertiserRow, error) {
	if r := t.advertisers[name]; r != nil {
		return r, nil
	}
	r := &advertiserRow{name: name}
	found, err := t.one(ctx, "SELECT id, enabled FROM adshard.advertiser WHERE name = $1", []any{name}, &r.id, &r.now)
	if !found {
		return nil, err
	}
	r.before = r.now
	t.knowAdvertiser(r)
	return r, nil
}

func (t *tx) findAdvertiserByID(ctx context.Context, id uint64) (*advertiserRow, error) {
	if r := t.advertiserByID[id]; r != nil {
		return r, nil
	}
	r := &advertiserRow{id: id}
	found, err := t.one(ctx, "SELECT name, enabled FROM adshard.advertiser WHERE id = $1", []any{int64(id)}, &r.name, &r.now)
	if !found {
		return nil, err
	}
	r.before = r.now
	t.knowAdvertiser(r)
	return r, nil
}

func (t *tx) knowAdvertiser(r *advertiserRow) {
	t.advertisers[r.name] = r
	t.advertiserByID[r.id] = r
}

// findCampaign reads all campaigns of an advertiser at once unless there are too
// many.
func (t *tx) findCampaign(ctx context.Context, key ownedName) (*campaignRow, error) {
	if r := t.campaigns[key]; r != nil {
		return r, nil
	}
	whole, known := t.wholeAds[key.owner]
	if whole {
		return nil, nil
	}
	if !known {
		most := t.s.limits.parents / wholeShare
		n, err := t.readCampaigns(ctx, " WHERE advertiser_id = $1 LIMIT $2", int64(key.owner), most+1)
		if err != nil {
			return nil, err
		}
		t.wholeAds[key.owner] = n <= most
	}
	if r := t.campaigns[key]; r != nil || t.wholeAds[key.owner] {
		return r, nil
	}
	_, err := t.readCampaigns(ctx, " WHERE advertiser_id = $1 AND name = $2", int64(key.owner), key.name)
	return t.campaigns[key], err
}

// readCampaigns caches campaigns, and returns how many there were.
func (t *tx) readCampaigns(ctx context.Context, where string, args ...any) (n int, err error) {
	rows, err := t.c.Query(ctx, `SELECT id, advertiser_id, name, enabled, daily_budget, desktop, mobile, tablet, languages, rotate_evenly
  FROM adshard.campaign`+where, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		r := &campaignRow{}
		v := &r.now
		var budget *int64
		var m modifierColumns
		err := rows.Scan(&r.id, &r.key.owner, &r.key.name, &v.Enabled, &budget, &m[0], &m[1], &m[2], &v.Languages, &v.RotateEvenly)
		if err != nil {
			return n, err
		}
		v.Budget, v.Modifiers = optional(budget), m.modifiers()
		r.before = r.now
		if n++; t.campaigns[r.key] == nil { // one that is changed already stays
			t.campaigns[r.key] = r
			t.owners[r.id] = r.key.owner
		}
	}
	return n, rows.Err()
}

// findGroup reads all groups of a campaign at once unless there are too many.
func (t *tx) findGroup(ctx context.Context, key ownedName) (*groupRow, error) {
	if r := t.groups[key]; r != nil {
		return r, nil
	}
	whole, known := t.whole[key.owner]
	if whole {
		return nil, nil
	}
	if !known {
		most := t.s.limits.parents / wholeShare
		n, err := t.readGroups(ctx, " WHERE campaign_id = $1 LIMIT $2", int64(key.owner), most+1)
		if err != nil {
			return nil, err
		}
		t.whole[key.owner] = n <= most
	}
	if r := t.groups[key]; r != nil || t.whole[key.owner] {
		return r, nil
	}
	_, err := t.readGroups(ctx, " WHERE campaign_id = $1 AND name = $2", int64(key.owner), key.name)
	return t.groups[key], err
}

// readGroups caches groups, and returns how many there were.
func (t *tx) readGroups(ctx context.Context, where string, args ...any) (n int, err error) {
	rows, err := t.c.Query(ctx, "SELECT id, advertiser_id, campaign_id, name, enabled, bid, desktop, mobile, tablet FROM adshard.ad_group"+where, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		r := &groupRow{exists: true}
		v := &r.now
		var bid *int64
		var m modifierColumns
		if err := rows.Scan(&r.id, &r.advertiser, &r.key.owner, &r.key.name, &v.Enabled, &bid, &m[0], &m[1], &m[2]); err != nil {
			return n, err
		}
		v.Bid, v.Modifiers = optional(bid), m.modifiers()
		r.before = r.now
		if n++; t.groups[r.key] == nil { // one that is changed already stays
			t.groups[r.key] = r
		}
	}
	return n, rows.Err()
}

// ownerOf returns the advertiser of a campaign; 0: there is no such campaign.
func (t *tx) ownerOf(ctx context.Context, campaign uint64) (owner uint64, err error) {
	if owner, ok := t.owners[campaign]; ok {
		return owner, nil
	}
	found, err := t.one(ctx, "SELECT advertiser_id FROM adshard.campaign WHERE id = $1", []any{int64(campaign)}, &owner)
	if found {
		t.owners[campaign] = owner
	}
	return owner, err
}
