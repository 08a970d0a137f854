package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

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
	id, advertiser uint64
	key            ownedName
	now, before    upsert.Group
	queued         bool
	exists         bool // in the database
}

// ownedName is the natural key of a campaign or group.
type ownedName struct {
	owner uint64
	name  string
}

// parentCache is the parents that a transaction knows.
type parentCache struct {
	advertisers    map[string]*advertiserRow
	advertiserByID map[uint64]*advertiserRow
	campaigns      map[ownedName]*campaignRow
	groups         map[ownedName]*groupRow
	// owners are the advertisers of campaigns; wholeAds and whole are the advertisers
	// and campaigns all of whose campaigns and groups are cached, or false where
	// there are too many.
	owners          map[uint64]uint64
	wholeAds, whole map[uint64]bool
	// Those that may differ from the database, in order.
	dirtyAds    []*advertiserRow
	dirtyCamps  []*campaignRow
	dirtyGroups []*groupRow
}

// forget empties the cache; what was changed must be written before.
func (p *parentCache) forget() {
	*p = parentCache{
		advertisers: make(map[string]*advertiserRow), advertiserByID: make(map[uint64]*advertiserRow),
		campaigns: make(map[ownedName]*campaignRow), groups: make(map[ownedName]*groupRow),
		owners: make(map[uint64]uint64), wholeAds: make(map[uint64]bool), whole: make(map[uint64]bool),
	}
}

// flushParents writes the parents that differ; new groups together.
func (t *tx) flushParents(ctx context.Context) error {
	for _, r := range t.dirtyAds {
		if r.queued = false; r.now == r.before {
			continue
		}
		if err := t.exec(ctx, "UPDATE adshard.advertiser SET enabled = $2 WHERE id = $1", int64(r.id), r.now); err != nil {
			return err
		}
		r.before = r.now
		t.report(backend.EntityAdvertiser, r.id, backend.Changed)
	}
	for _, r := range t.dirtyCamps {
		if r.queued = false; r.now == r.before {
			continue
		}
		v := r.now
		err := t.exec(ctx, `UPDATE adshard.campaign SET enabled = $2, daily_budget = $3, desktop = $4, mobile = $5, tablet = $6,
  languages = $7, rotate_evenly = $8 WHERE id = $1`, int64(r.id), v.Enabled, column(v.Budget),
			column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]), v.Languages, v.RotateEvenly)
		if err != nil {
			return err
		}
		r.before = r.now
		t.report(backend.EntityCampaign, r.id, backend.Changed)
	}
	t.dirtyAds, t.dirtyCamps = t.dirtyAds[:0], t.dirtyCamps[:0]
	return t.flushGroups(ctx)
}

func (t *tx) flushGroups(ctx context.Context) error {
	var fresh, changed []*groupRow
	for _, r := range t.dirtyGroups {
		r.queued = false
		switch {
		case !r.exists:
			fresh = append(fresh, r)
		case r.now != r.before:
			changed = append(changed, r)
		}
	}
	t.dirtyGroups = t.dirtyGroups[:0]
	if err := t.insertGroups(ctx, fresh); err != nil {
		return err
	}
	if len(changed) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	for _, r := range changed {
		v := r.now
		b.Queue("UPDATE adshard.ad_group SET enabled = $2, bid = $3, desktop = $4, mobile = $5, tablet = $6 WHERE id = $1",
			int64(r.id), v.Enabled, column(v.Bid), column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2]))
	}
	if err := t.c.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	for _, r := range changed {
		r.before = r.now
		t.report(backend.EntityGroup, r.id, backend.Changed)
	}
	return nil
}

func (t *tx) insertGroups(ctx context.Context, fresh []*groupRow) error {
	if len(fresh) == 0 {
		return nil
	}
	columns := []string{"id", "campaign_id", "advertiser_id", "name", "enabled", "bid", "desktop", "mobile", "tablet"}
	_, err := t.c.CopyFrom(ctx, pgx.Identifier{"adshard", "ad_group"}, columns, pgx.CopyFromSlice(len(fresh), func(i int) ([]any, error) {
		r := fresh[i]
		v := r.now
		return []any{int64(r.id), int64(r.key.owner), int64(r.advertiser), r.key.name, v.Enabled, column(v.Bid),
			column(v.Modifiers[0]), column(v.Modifiers[1]), column(v.Modifiers[2])}, nil
	}))
	for _, r := range fresh {
		r.exists, r.before = true, r.now
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
