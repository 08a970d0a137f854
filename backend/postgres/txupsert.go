package postgres

import (
	"context"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
)

// Advertiser implements backend.Tx.
func (t *tx) Advertiser(ctx context.Context, name string) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findAdvertiser(ctx, name)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	if r == nil {
		return t.createAdvertiser(ctx, name)
	}
	t.report(backend.EntityAdvertiser, r.id, backend.Named)
	return r.id, nil
}

// createAdvertiser waits for another transaction that makes the same one.
func (t *tx) createAdvertiser(ctx context.Context, name string) (uint64, error) {
	if err := t.bound(ctx); err != nil {
		return 0, t.fail(ctx, err)
	}
	id, err := t.next("advertiser")(ctx)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	tag, err := t.c.Exec(ctx, "INSERT INTO adshard.advertiser (id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", int64(id), name)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	if tag.RowsAffected() == 0 {
		return t.Advertiser(ctx, name)
	}
	t.knowAdvertiser(&advertiserRow{id: id, name: name, now: true, before: true})
	t.wholeAds[id] = true
	t.report(backend.EntityAdvertiser, id, backend.Created)
	return id, nil
}

// UpdateAdvertiser implements backend.Tx.
func (t *tx) UpdateAdvertiser(ctx context.Context, id uint64, status backend.Status) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	r, err := t.findAdvertiserByID(ctx, id)
	if err != nil || r == nil {
		return t.fail(ctx, err)
	}
	if status == backend.Remove {
		return t.fail(ctx, t.remove(ctx, backend.EntityAdvertiser, id))
	}
	r.now = upsert.Enabled(r.now, status)
	if r.now != r.before && !r.queued {
		r.queued = true
		t.dirtyAds = append(t.dirtyAds, r)
	}
	t.report(backend.EntityAdvertiser, id, backend.Named)
	return nil
}

// Campaign implements backend.Tx. Removing returns the id of the removed one, or 0.
func (t *tx) Campaign(ctx context.Context, advertiser uint64, name string, p backend.CampaignPatch) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	key := ownedName{advertiser, name}
	r, err := t.findCampaign(ctx, key)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	switch {
	case p.Status == backend.Remove && r == nil:
		return 0, nil
	case p.Status == backend.Remove:
		return r.id, t.fail(ctx, t.remove(ctx, backend.EntityCampaign, r.id))
	case r == nil:
		return t.createCampaign(ctx, key, p)
	}
	v := r.now
	if err := v.Apply(p); err != nil {
		return 0, err
	}
	if r.now = v; v != r.before && !r.queued {
		r.queued = true
		t.dirtyCamps = append(t.dirtyCamps, r)
	}
	t.report(backend.EntityCampaign, r.id, backend.Named)
	return r.id, nil
}

func (t *tx) createCampaign(ctx context.Context, key ownedName, p backend.CampaignPatch) (uint64, error) {
	v := upsert.Campaign{Enabled: true}
	if err := v.Apply(p); err != nil {
		return 0, err
	}
	if err := t.bound(ctx); err != nil {
		return 0, t.fail(ctx, err)
	}
	id, err := t.next("campaign")(ctx)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	tag, err := t.c.Exec(ctx, `INSERT INTO adshard.campaign (id, advertiser_id, name, enabled, daily_budget, desktop, mobile, tablet,
  languages, rotate_evenly) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (advertiser_id, name) DO NOTHING`,
		int64(id), int64(key.owner), key.name, v.Enabled, column(v.Budget),
		column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]), v.Languages, v.RotateEvenly)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	if tag.RowsAffected() == 0 { // another transaction has made it since the campaigns were read
		delete(t.wholeAds, key.owner)
		return t.Campaign(ctx, key.owner, key.name, p)
	}
	t.campaigns[key] = &campaignRow{id: id, key: key, now: v, before: v}
	t.owners[id], t.whole[id] = key.owner, true
	t.campaignNeg.Created(id)
	t.report(backend.EntityCampaign, id, backend.Created)
	return id, nil
}

// Group implements backend.Tx. Removing returns the id of the removed one, or 0.
func (t *tx) Group(ctx context.Context, campaign uint64, name string, p backend.GroupPatch) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	key := ownedName{campaign, name}
	r, err := t.findGroup(ctx, key)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	switch {
	case p.Status == backend.Remove && r == nil:
		return 0, nil
	case p.Status == backend.Remove:
		return r.id, t.fail(ctx, t.removeGroup(ctx, r))
	case r == nil:
		return t.createGroup(ctx, key, p)
	}
	v := r.now
	if err := v.Apply(p); err != nil {
		return 0, err
	}
	r.now = v
	if !r.exists || v != r.before {
		t.dirtyGroup(r)
	}
	t.report(backend.EntityGroup, r.id, backend.Named)
	return r.id, nil
}

func (t *tx) dirtyGroup(r *groupRow) {
	if !r.queued {
		r.queued = true
		t.dirtyGroups = append(t.dirtyGroups, r)
	}
}

func (t *tx) createGroup(ctx context.Context, key ownedName, p backend.GroupPatch) (uint64, error) {
	v := upsert.Group{Enabled: true}
	if err := v.Apply(p); err != nil {
		return 0, err
	}
	if err := t.bound(ctx); err != nil {
		return 0, t.fail(ctx, err)
	}
	advertiser, err := t.ownerOf(ctx, key.owner)
	if err == nil && advertiser == 0 {
		err = fault.Newf(fault.NotFound, "postgres: write", "there is no campaign %d", key.owner)
	}
	var id uint64
	if err == nil {
		id, err = t.next("ad_group")(ctx)
	}
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	r := &groupRow{id: id, advertiser: advertiser, key: key, now: v}
	t.groups[key] = r
	t.dirtyGroup(r)
	t.keywords.Created(id)
	t.negatives.Created(id)
	t.ads.Created(id)
	t.report(backend.EntityGroup, id, backend.Created)
	return id, nil
}

// Keyword implements backend.Tx.
func (t *tx) Keyword(ctx context.Context, group uint64, p backend.KeywordPatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := upsert.KeyOf(p.Words, p.Type)
	if err == nil {
		err = upsert.CheckKeyword(p)
	}
	if err != nil {
		return err
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, t.keywords.Remove(ctx, group, key))
	}
	if err := t.bound(ctx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, t.keywords.Put(ctx, group, key, upsert.NewKeyword(), func(v *upsert.Keyword) { v.Apply(p, key.Words) }))
}

// Negative implements backend.Tx.
func (t *tx) Negative(ctx context.Context, owner backend.NegativeOwner, p backend.NegativePatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := upsert.KeyOf(p.Words, p.Type)
	if err != nil {
		return err
	}
	table, id := &t.negatives, owner.Group
	if id == 0 {
		table, id = &t.campaignNeg, owner.Campaign
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, table.Remove(ctx, id, key))
	}
	if err := t.bound(ctx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, table.Put(ctx, id, key, upsert.NewNegative(), func(v *upsert.Negative) { v.Apply(p, key.Words) }))
}

// Ad implements backend.Tx.
func (t *tx) Ad(ctx context.Context, group uint64, p backend.AdPatch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	key, err := upsert.ContentOf(p)
	if err != nil {
		return err
	}
	if p.Status == backend.Remove {
		return t.fail(ctx, t.ads.Remove(ctx, group, key))
	}
	if err := t.bound(ctx); err != nil {
		return t.fail(ctx, err)
	}
	return t.fail(ctx, t.ads.Put(ctx, group, key, upsert.NewAd(), func(v *upsert.Ad) { v.Apply(p) }))
}
