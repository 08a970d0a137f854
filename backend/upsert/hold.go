package upsert

import (
	"context"

	"adshard/backend"
	"adshard/fault"
)

// held returns a hold after a change, which is nil if there is none.
func held(now backend.Hold, change backend.HoldChange, made bool) backend.Hold {
	if change == nil {
		return now
	}
	return change.Change(now, made)
}

// Held implements backend.Tx.
func (t *Tx) Held(ctx context.Context, q backend.HeldQuery, after uint64, limit int, change func(backend.Held) backend.Hold) (n int, err error) {
	if err := t.Ready(ctx); err != nil {
		return 0, err
	}
	// Rows that are loaded must equal the cached ones. Backend.Flushed is not called yet, since holds that are
	// released change the rows again.
	if err := t.flushRows(ctx); err != nil {
		return 0, t.Fail(ctx, err)
	}
	t.forget()
	if q.Groups {
		rows, err := t.Backend.LoadHeldGroups(ctx, q, after, limit)
		for _, r := range rows {
			t.KnowGroup(r)
			v := r.Now
			v.Hold = change(backend.Held{ID: r.ID, Owner: r.Key.Owner, Name: r.Key.Name, Hold: v.Hold})
			t.changedGroups.set(r, v)
		}
		return len(rows), t.Fail(ctx, err)
	}
	rows, err := t.Backend.LoadHeldCampaigns(ctx, q, after, limit)
	for _, r := range rows {
		t.KnowCampaign(r)
		v := r.Now
		v.Hold = change(backend.Held{ID: r.ID, Owner: r.Key.Owner, Name: r.Key.Name, Hold: v.Hold})
		t.changedCampaigns.set(r, v)
	}
	return len(rows), t.Fail(ctx, err)
}

// Locations implements backend.Tx.
func (t *Tx) Locations(ctx context.Context, advertiser uint64, campaign string) (string, error) {
	if err := t.Ready(ctx); err != nil {
		return "", err
	}
	r, err := t.findCampaign(ctx, Name{advertiser, campaign})
	if err != nil || r == nil {
		return "", t.Fail(ctx, err)
	}
	return r.Now.Locations, nil
}

// Rename implements backend.Tx.
func (t *Tx) Rename(ctx context.Context, entity backend.Entity, owner uint64, from, to string) (uint64, error) {
	if err := t.Ready(ctx); err != nil {
		return 0, err
	}
	was, is := Name{owner, from}, Name{owner, to}
	if entity == backend.EntityCampaign {
		return rename(ctx, t, entity, was, is, t.findCampaign, t.Backend.RenameCampaign, &t.campaigns)
	}
	return rename(ctx, t, entity, was, is, t.findGroup, t.Backend.RenameGroup, &t.groups)
}

func rename[V comparable](ctx context.Context, t *Tx, entity backend.Entity, was, is Name,
	find func(context.Context, Name) (*Parent[Name, V], error),
	write func(context.Context, *Parent[Name, V], string) error, cache *map[Name]*Parent[Name, V]) (uint64, error) {
	r, err := find(ctx, was)
	if err != nil || r == nil {
		return 0, t.Fail(ctx, err)
	}
	other, err := find(ctx, is)
	if err != nil {
		return 0, t.Fail(ctx, err)
	}
	if other != nil {
		return 0, fault.Newf(fault.Conflict, opWrite, "there is a %v %q already", entity, is.Name)
	}
	if err = t.Flush(ctx); err == nil {
		err = write(ctx, r, is.Name)
	}
	if err != nil {
		return 0, t.Fail(ctx, err)
	}
	delete(*cache, was)
	r.Key = is
	put(cache, is, r)
	t.Report(entity, r.ID, backend.Changed)
	return r.ID, nil
}
