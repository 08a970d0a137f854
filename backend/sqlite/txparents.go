package sqlite

import (
	"context"
	"strconv"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
)

// CreateAdvertiser implements upsert.Backend.
func (t *tx) CreateAdvertiser(_ context.Context, r *upsert.AdvertiserRow) error {
	if err := t.write("INSERT INTO advertiser (name) VALUES (?)", r.Key); err != nil {
		return err
	}
	r.ID = uint64(t.c.LastInsertRowID())
	t.sums.created(backend.KindAdvertiser, r.ID, t.sums.h.advertiser(r.ID, r.Key, &r.Now))
	return nil
}

// CreateCampaign implements upsert.Backend.
func (t *tx) CreateCampaign(_ context.Context, r *upsert.CampaignRow) error {
	v := &r.Now
	err := t.write(insertCampaign, appendCampaign(append(make([]any, 0, 3+campaignWidth), r.Key.Owner, r.Key.Name, int64(v.Hold)), v)...)
	if err != nil {
		return err
	}
	r.ID = uint64(t.c.LastInsertRowID())
	t.sums.created(backend.KindCampaign, r.ID, t.sums.h.campaign(r.ID, r.Key.Owner, r.Key.Name, v)+t.sums.h.budget(r.ID, budgetMark{}))
	return nil
}

// CreateGroup implements upsert.Backend.
func (t *tx) CreateGroup(_ context.Context, r *upsert.GroupRow) error {
	v := &r.Now
	err := t.write(insertGroup, appendGroup(append(make([]any, 0, 3+groupWidth), r.Key.Owner, r.Key.Name, int64(v.Hold)), v)...)
	if err != nil {
		return err
	}
	r.ID = uint64(t.c.LastInsertRowID())
	owner, err := t.ownerOf(r.Key.Owner)
	if err != nil {
		return err
	}
	t.sums.created(backend.KindGroup, r.ID, t.sums.h.group(r.ID, r.Key.Owner, r.Key.Name, v)+t.sums.h.groupOwner(r.ID, owner))
	return nil
}

// UpdateAdvertisers implements upsert.Backend.
func (t *tx) UpdateAdvertisers(_ context.Context, rows []*upsert.AdvertiserRow) error {
	h := &t.sums.h
	for _, r := range rows {
		err := t.sums.change(backend.KindAdvertiser, r.ID, h.advertiser(r.ID, r.Key, &r.Now)-h.advertiser(r.ID, r.Key, &r.Before))
		if err == nil {
			err = t.write("UPDATE advertiser SET "+advertiserSetters+" WHERE id = ?", append(appendAdvertiser(nil, &r.Now), r.ID)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// UpdateCampaigns implements upsert.Backend.
func (t *tx) UpdateCampaigns(_ context.Context, rows []*upsert.CampaignRow) error {
	h := &t.sums.h
	held := heldRows{t: t}
	for _, r := range rows {
		v := &r.Now
		by := h.campaign(r.ID, r.Key.Owner, r.Key.Name, v) - h.campaign(r.ID, r.Key.Owner, r.Key.Name, &r.Before)
		err := t.sums.change(backend.KindCampaign, r.ID, by)
		update := func() error {
			return t.write("UPDATE campaign SET hold = ?, "+campaignSetters+" WHERE id = ?", append(appendCampaign([]any{int64(v.Hold)}, v), r.ID)...)
		}
		switch {
		case err != nil:
		case onlyHeld(*v, r.Before):
			err = held.add(r.ID, v.Hold)
		case v.Languages == r.Before.Languages:
			err = update()
		default:
			err = t.sums.languages(r.ID, update)
		}
		if err != nil {
			return err
		}
	}
	return held.flush()
}

// onlyHeld reports whether a campaign's values differ at most in its hold.
func onlyHeld(now, before backend.CampaignSettings) bool {
	now.Hold = before.Hold
	return now == before
}

// heldRows writes the holds of campaigns. Equal holds are written in one statement, since an import releases
// thousands of campaigns at once.
type heldRows struct {
	t    *tx
	hold backend.Hold
	ids  []byte // the list as JSON without its end, or empty
}

func (h *heldRows) add(id uint64, hold backend.Hold) error {
	if hold != h.hold || len(h.ids) > 1<<10 {
		if err := h.flush(); err != nil {
			return err
		}
	}
	h.hold = hold
	if len(h.ids) == 0 {
		h.ids = append(h.ids, '[')
	} else {
		h.ids = append(h.ids, ',')
	}
	h.ids = strconv.AppendUint(h.ids, id, 10)
	return nil
}

func (h *heldRows) flush() error {
	if len(h.ids) == 0 {
		return nil
	}
	ids := string(h.ids) + "]"
	h.ids = h.ids[:0]
	return h.t.write("UPDATE campaign SET hold = ? WHERE id IN (SELECT value FROM json_each(?))", int64(h.hold), ids)
}

// UpdateGroups implements upsert.Backend.
func (t *tx) UpdateGroups(_ context.Context, rows []*upsert.GroupRow) error {
	h := &t.sums.h
	for _, r := range rows {
		v := &r.Now
		by := h.group(r.ID, r.Key.Owner, r.Key.Name, v) - h.group(r.ID, r.Key.Owner, r.Key.Name, &r.Before)
		err := t.sums.change(backend.KindGroup, r.ID, by)
		if err == nil {
			err = t.write("UPDATE ad_group SET hold = ?, "+groupSetters+" WHERE id = ?", append(appendGroup([]any{int64(v.Hold)}, v), r.ID)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ownerOf returns the advertiser of a campaign.
func (t *tx) ownerOf(campaign uint64) (uint64, error) {
	if owner := t.Owner(campaign); owner != 0 {
		return owner, nil
	}
	owner, err := t.c.number("SELECT advertiser_id FROM campaign WHERE id = ?", campaign)
	t.KnowOwner(campaign, uint64(owner))
	return uint64(owner), err
}

// LoadAdvertiser implements upsert.Backend.
func (t *tx) LoadAdvertiser(_ context.Context, name string) error {
	return t.loadAdvertiser("name = ?", name)
}

// LoadAdvertiserByID implements upsert.Backend.
func (t *tx) LoadAdvertiserByID(_ context.Context, id uint64) error {
	return t.loadAdvertiser("id = ?", id)
}

func (t *tx) loadAdvertiser(where string, arg any) error {
	return t.c.query("SELECT id, name, "+advertiserColumns+" FROM advertiser WHERE "+where, func(st *zs.Stmt) error {
		t.KnowAdvertiser(upsert.StoredParent(uint64(st.ColumnInt64(0)), st.ColumnText(1), scanAdvertiserSettings(st, 2)))
		return nil
	}, arg)
}

// LoadCampaign implements upsert.Backend.
func (t *tx) LoadCampaign(_ context.Context, key upsert.Name) error {
	return t.c.query("SELECT "+storedCampaigns+" FROM campaign WHERE advertiser_id = ? AND name = ?", func(st *zs.Stmt) error {
		t.KnowCampaign(storedCampaign(st, 0, key))
		return nil
	}, key.Owner, key.Name)
}

// The columns that storedCampaign and storedGroup read, and the statements that insert rows.
const (
	storedCampaigns = "id, hold, " + campaignColumns
	storedGroups    = "id, hold, " + groupColumns

	insertCampaign = "INSERT INTO campaign (advertiser_id, name, hold, " + campaignColumns + ") VALUES (?, ?, ?, " + campaignPlaces + ")"
	insertGroup    = "INSERT INTO ad_group (campaign_id, name, hold, " + groupColumns + ") VALUES (?, ?, ?, " + groupPlaces + ")"
)

// storedCampaign reads the columns storedCampaigns, which begin at column `first` of the row.
func storedCampaign(st *zs.Stmt, first int, key upsert.Name) *upsert.CampaignRow {
	v := scanCampaignSettings(st, first+2)
	v.Hold = backend.Hold(st.ColumnInt64(first + 1))
	return upsert.StoredParent(uint64(st.ColumnInt64(first)), key, v)
}

// storedGroup reads the columns storedGroups, which begin at column `first` of the row.
func storedGroup(st *zs.Stmt, first int, key upsert.Name) *upsert.GroupRow {
	v := scanGroupSettings(st, first+2)
	v.Hold = backend.Hold(st.ColumnInt64(first + 1))
	return upsert.StoredParent(uint64(st.ColumnInt64(first)), key, v)
}

// LoadGroup implements upsert.Backend.
func (t *tx) LoadGroup(_ context.Context, key upsert.Name) error {
	return t.c.query("SELECT "+storedGroups+" FROM ad_group WHERE campaign_id = ? AND name = ?", func(st *zs.Stmt) error {
		t.KnowGroup(storedGroup(st, 0, key))
		return nil
	}, key.Owner, key.Name)
}

// Remove implements upsert.Backend.
func (t *tx) Remove(ctx context.Context, entity backend.Entity, id uint64) error {
	stop := t.c.until(ctx)
	defer stop()
	if err := t.reportRemoval(entity, id); err != nil {
		return err
	}
	table := map[backend.Entity]string{
		backend.EntityAdvertiser: "advertiser", backend.EntityCampaign: "campaign", backend.EntityGroup: "ad_group",
	}[entity]
	return t.write("DELETE FROM "+table+" WHERE id = ?", id)
}
