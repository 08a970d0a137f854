package sqlite

import (
	"context"

	"adshard/backend"
	"adshard/backend/upsert"
)

// Advertiser implements backend.Tx.
func (t *tx) Advertiser(ctx context.Context, name string) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findAdvertiser(name)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	if r != nil {
		t.report(backend.EntityAdvertiser, r.id, backend.Named)
		return r.id, nil
	}
	if err := t.bound(ctx); err != nil {
		return 0, t.fail(ctx, err)
	}
	if err := t.write("INSERT INTO advertiser (name) VALUES (?)", name); err != nil {
		return 0, t.fail(ctx, err)
	}
	r = &advertiserRow{id: uint64(t.c.LastInsertRowID()), name: name, now: true, before: true}
	t.knowAdvertiser(r)
	t.sums.created(backend.KindAdvertiser, r.id, t.sums.h.advertiser(r.id, name, true))
	t.report(backend.EntityAdvertiser, r.id, backend.Created)
	return r.id, nil
}

// UpdateAdvertiser implements backend.Tx.
func (t *tx) UpdateAdvertiser(ctx context.Context, id uint64, status backend.Status) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	switch status {
	case backend.Remove:
		return t.fail(ctx, t.removeParent(ctx, backend.EntityAdvertiser, "DELETE FROM advertiser WHERE id = ?", id))
	case backend.Keep:
		return nil
	}
	r, err := t.findAdvertiserByID(id)
	if err != nil || r == nil {
		return t.fail(ctx, err)
	}
	r.now = upsert.Enabled(r.now, status)
	if !r.queued && r.now != r.before {
		r.queued = true
		t.dirtyAds = append(t.dirtyAds, r)
	}
	return nil
}

// Campaign implements backend.Tx. Removing returns the id of the removed one, or 0.
func (t *tx) Campaign(ctx context.Context, advertiser uint64, name string, p backend.CampaignPatch) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	key := ownedName{advertiser, name}
	r, err := t.findCampaign(key)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	if p.Status == backend.Remove {
		if r == nil {
			return 0, nil
		}
		return r.id, t.fail(ctx, t.removeParent(ctx, backend.EntityCampaign, "DELETE FROM campaign WHERE id = ?", r.id))
	}
	if r == nil {
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
	err := t.write(`INSERT INTO campaign (advertiser_id, name, enabled, daily_budget, desktop, mobile, tablet, languages, rotate_evenly)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, key.owner, key.name,
		v.Enabled, v.Budget, v.Modifiers[0], v.Modifiers[1], v.Modifiers[2], v.Languages, v.RotateEvenly)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	r := &campaignRow{id: uint64(t.c.LastInsertRowID()), key: key, now: v, before: v}
	t.campaigns[key] = r
	t.owners[r.id], t.empty[r.id] = key.owner, true
	t.sums.created(backend.KindCampaign, r.id, t.sums.h.campaign(r.id, key.owner, key.name, v)+t.sums.h.budget(r.id, false))
	t.campaignNeg.Created(r.id)
	t.report(backend.EntityCampaign, r.id, backend.Created)
	return r.id, nil
}

// Group implements backend.Tx. Removing returns the id of the removed one, or 0.
func (t *tx) Group(ctx context.Context, campaign uint64, name string, p backend.GroupPatch) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	key := ownedName{campaign, name}
	r, err := t.findGroup(key)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	if p.Status == backend.Remove {
		if r == nil {
			return 0, nil
		}
		return r.id, t.fail(ctx, t.removeGroup(ctx, key, r.id))
	}
	if r == nil {
		return t.createGroup(ctx, key, p)
	}
	v := r.now
	if err := v.Apply(p); err != nil {
		return 0, err
	}
	if r.now = v; v != r.before && !r.queued {
		r.queued = true
		t.dirtyGroups = append(t.dirtyGroups, r)
	}
	t.report(backend.EntityGroup, r.id, backend.Named)
	return r.id, nil
}

func (t *tx) createGroup(ctx context.Context, key ownedName, p backend.GroupPatch) (uint64, error) {
	v := upsert.Group{Enabled: true}
	if err := v.Apply(p); err != nil {
		return 0, err
	}
	if err := t.bound(ctx); err != nil {
		return 0, t.fail(ctx, err)
	}
	err := t.write("INSERT INTO ad_group (campaign_id, name, enabled, bid, desktop, mobile, tablet) VALUES (?, ?, ?, ?, ?, ?, ?)",
		key.owner, key.name, v.Enabled, v.Bid, v.Modifiers[0], v.Modifiers[1], v.Modifiers[2])
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	r := &groupRow{id: uint64(t.c.LastInsertRowID()), key: key, now: v, before: v}
	t.groups[key] = r
	owner, err := t.ownerOf(key.owner)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	t.sums.created(backend.KindGroup, r.id, t.sums.h.group(r.id, key.owner, key.name, v)+t.sums.h.groupOwner(r.id, owner))
	t.keywords.Created(r.id)
	t.negatives.Created(r.id)
	t.ads.Created(r.id)
	t.report(backend.EntityGroup, r.id, backend.Created)
	return r.id, nil
}

// removeParent deletes an advertiser or campaign with all it holds. The
// cache is emptied: removals are rare.
func (t *tx) removeParent(ctx context.Context, entity backend.Entity, sql string, id uint64) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	t.forget()
	stop := t.c.until(ctx)
	defer stop()
	if err := t.reportRemoval(entity, id); err != nil {
		return err
	}
	return t.write(sql, id)
}

func (t *tx) removeGroup(ctx context.Context, key ownedName, id uint64) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	delete(t.groups, key)
	t.keywords.ForgetOwner(id)
	t.negatives.ForgetOwner(id)
	t.ads.ForgetOwner(id)
	stop := t.c.until(ctx)
	defer stop()
	if err := t.reportRemoval(backend.EntityGroup, id); err != nil {
		return err
	}
	return t.write("DELETE FROM ad_group WHERE id = ?", id)
}
