package sqlite

import (
	"context"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
)

// advertiserRow, campaignRow and groupRow are cached parents: their new state and
// that in the database.
type advertiserRow struct {
	id          uint64
	name        string
	now, before bool // enabled
	queued      bool
}

type campaignRow struct {
	id          uint64
	key         ownedName
	now, before upsert.Campaign
	queued      bool
}

type groupRow struct {
	id          uint64
	key         ownedName
	now, before upsert.Group
	queued      bool
}

// flushParents writes the parents that differ.
func (t *tx) flushParents() error {
	for _, r := range t.dirtyAds {
		r.queued = false
		if r.now == r.before {
			continue
		}
		h := &t.sums.h
		err := t.sums.change(backend.KindAdvertiser, r.id, h.advertiser(r.id, r.name, r.now)-h.advertiser(r.id, r.name, r.before))
		if err == nil {
			err = t.write("UPDATE advertiser SET enabled = ? WHERE id = ?", r.now, r.id)
		}
		if err != nil {
			return err
		}
		r.before = r.now
		t.report(backend.EntityAdvertiser, r.id, backend.Changed)
	}
	for _, r := range t.dirtyCamps {
		r.queued = false
		if r.now == r.before {
			continue
		}
		if err := t.updateCampaign(r); err != nil {
			return err
		}
		r.before = r.now
		t.report(backend.EntityCampaign, r.id, backend.Changed)
	}
	for _, r := range t.dirtyGroups {
		r.queued = false
		if r.now == r.before {
			continue
		}
		if err := t.updateGroup(r); err != nil {
			return err
		}
		r.before = r.now
		t.report(backend.EntityGroup, r.id, backend.Changed)
	}
	t.dirtyAds, t.dirtyCamps, t.dirtyGroups = t.dirtyAds[:0], t.dirtyCamps[:0], t.dirtyGroups[:0]
	return nil
}

func (t *tx) updateCampaign(r *campaignRow) error {
	h, v := &t.sums.h, r.now
	by := h.campaign(r.id, r.key.owner, r.key.name, v) - h.campaign(r.id, r.key.owner, r.key.name, r.before)
	if err := t.sums.change(backend.KindCampaign, r.id, by); err != nil {
		return err
	}
	update := func() error {
		return t.write(`UPDATE campaign SET enabled = ?, daily_budget = ?, desktop = ?, mobile = ?, tablet = ?, languages = ?,
  rotate_evenly = ? WHERE id = ?`,
			v.Enabled, v.Budget, v.Modifiers[0], v.Modifiers[1], v.Modifiers[2], v.Languages, v.RotateEvenly, r.id)
	}
	if v.Languages == r.before.Languages {
		return update()
	}
	return t.sums.languages(r.id, update)
}

func (t *tx) updateGroup(r *groupRow) error {
	h, v := &t.sums.h, r.now
	by := h.group(r.id, r.key.owner, r.key.name, v) - h.group(r.id, r.key.owner, r.key.name, r.before)
	if err := t.sums.change(backend.KindGroup, r.id, by); err != nil {
		return err
	}
	return t.write("UPDATE ad_group SET enabled = ?, bid = ?, desktop = ?, mobile = ?, tablet = ? WHERE id = ?",
		v.Enabled, v.Bid, v.Modifiers[0], v.Modifiers[1], v.Modifiers[2], r.id)
}

// ownerOf returns the advertiser of a campaign.
func (t *tx) ownerOf(campaign uint64) (uint64, error) {
	if owner, ok := t.owners[campaign]; ok {
		return owner, nil
	}
	owner, err := t.c.number("SELECT advertiser_id FROM campaign WHERE id = ?", campaign)
	t.owners[campaign] = uint64(owner)
	return uint64(owner), err
}

// findAdvertiser returns nil if there is none.
func (t *tx) findAdvertiser(name string) (*advertiserRow, error) {
	if r := t.advertisers[name]; r != nil {
		return r, nil
	}
	var r *advertiserRow
	err := t.c.query("SELECT id, enabled FROM advertiser WHERE name = ?", func(st *zs.Stmt) error {
		r = &advertiserRow{id: uint64(st.ColumnInt64(0)), name: name, now: st.ColumnBool(1)}
		r.before = r.now
		t.knowAdvertiser(r)
		return nil
	}, name)
	return r, err
}

func (t *tx) findAdvertiserByID(id uint64) (*advertiserRow, error) {
	if r := t.advertiserByID[id]; r != nil {
		return r, nil
	}
	name, found := "", false
	err := t.c.query("SELECT name FROM advertiser WHERE id = ?", func(st *zs.Stmt) error {
		name, found = st.ColumnText(0), true
		return nil
	}, id)
	if err != nil || !found {
		return nil, err
	}
	return t.findAdvertiser(name)
}

func (t *tx) knowAdvertiser(r *advertiserRow) {
	t.advertisers[r.name] = r
	t.advertiserByID[r.id] = r
}

func (t *tx) findCampaign(key ownedName) (*campaignRow, error) {
	if r := t.campaigns[key]; r != nil {
		return r, nil
	}
	var r *campaignRow
	err := t.c.query(`SELECT id, enabled, daily_budget, desktop, mobile, tablet, languages, rotate_evenly FROM campaign
  WHERE advertiser_id = ? AND name = ?`, func(st *zs.Stmt) error {
		r = &campaignRow{id: uint64(st.ColumnInt64(0)), key: key, now: upsert.Campaign{
			Enabled: st.ColumnBool(1), Budget: columnOptional(st, 2), Modifiers: columnModifiers(st, 3),
			Languages: st.ColumnText(6), RotateEvenly: st.ColumnBool(7),
		}}
		r.before = r.now
		t.campaigns[key] = r
		return nil
	}, key.owner, key.name)
	return r, err
}

func (t *tx) findGroup(key ownedName) (*groupRow, error) {
	if r := t.groups[key]; r != nil || t.empty[key.owner] {
		return r, nil
	}
	var r *groupRow
	err := t.c.query("SELECT id, enabled, bid, desktop, mobile, tablet FROM ad_group WHERE campaign_id = ? AND name = ?",
		func(st *zs.Stmt) error {
			r = &groupRow{id: uint64(st.ColumnInt64(0)), key: key, now: upsert.Group{
				Enabled: st.ColumnBool(1), Bid: columnOptional(st, 2), Modifiers: columnModifiers(st, 3),
			}}
			r.before = r.now
			t.groups[key] = r
			return nil
		}, key.owner, key.name)
	return r, err
}

func columnModifiers(st *zs.Stmt, first int) (m upsert.Modifiers) {
	for i := range m {
		m[i] = columnOptional(st, first+i)
	}
	return m
}

// FindAdvertiser implements backend.Tx.
func (t *tx) FindAdvertiser(ctx context.Context, name string) (uint64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findAdvertiser(name)
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
	r, err := t.findCampaign(ownedName{advertiser, name})
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
	r, err := t.findGroup(ownedName{campaign, name})
	if err != nil || r == nil {
		return 0, t.fail(ctx, err)
	}
	return r.id, nil
}
