package upsert

import (
	"context"

	"adshard/backend"
)

// Advertiser implements backend.Tx.
func (t *Tx) Advertiser(ctx context.Context, name string) (uint64, error) {
	if err := t.Ready(ctx); err != nil {
		return 0, err
	}
	r, err := t.findAdvertiser(ctx, name)
	if err != nil {
		return 0, t.Fail(ctx, err)
	}
	if r != nil {
		t.Report(backend.EntityAdvertiser, r.ID, backend.Named)
		return r.ID, nil
	}
	r = StoredParent(0, name, backend.NewAdvertiser())
	if err := t.create(ctx, func() error { return t.Backend.CreateAdvertiser(ctx, r) }); err != nil {
		return 0, err
	}
	if r.ID == 0 {
		return t.Advertiser(ctx, name)
	}
	t.KnowAdvertiser(r)
	t.KnowCampaignsOf(r.ID, true)
	t.AdvertiserNegatives.Created(r.ID)
	t.Report(backend.EntityAdvertiser, r.ID, backend.Created)
	return r.ID, nil
}

// create runs f, which creates an entity, after making room in the cache.
func (t *Tx) create(ctx context.Context, f func() error) error {
	err := t.bound(ctx)
	if err == nil {
		err = f()
	}
	return t.Fail(ctx, err)
}

// UpdateAdvertiser implements backend.Tx.
func (t *Tx) UpdateAdvertiser(ctx context.Context, id uint64, p backend.AdvertiserPatch) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	if t.advertiserByID[id] == nil {
		if err := t.Backend.LoadAdvertiserByID(ctx, id); err != nil {
			return t.Fail(ctx, err)
		}
	}
	r := t.advertiserByID[id]
	if r == nil {
		return nil
	}
	if p.Status == backend.Remove {
		return t.Fail(ctx, t.remove(ctx, backend.EntityAdvertiser, id))
	}
	v := r.Now
	if err := v.Apply(&p); err != nil {
		return err
	}
	t.changedAdvertisers.set(r, v)
	t.Report(backend.EntityAdvertiser, id, backend.Named)
	return nil
}

// Campaign implements backend.Tx. With the status Remove it returns the id of the removed campaign, or 0.
func (t *Tx) Campaign(ctx context.Context, advertiser uint64, name string, p backend.CampaignPatch) (uint64, error) {
	if err := t.Ready(ctx); err != nil {
		return 0, err
	}
	key := Name{advertiser, name}
	r, err := t.findCampaign(ctx, key)
	if err != nil {
		return 0, t.Fail(ctx, err)
	}
	switch {
	case p.Status == backend.Remove && r == nil:
		return 0, nil
	case p.Status == backend.Remove:
		return r.ID, t.Fail(ctx, t.remove(ctx, backend.EntityCampaign, r.ID))
	case r == nil:
		return t.createCampaign(ctx, key, p)
	}
	v := r.Now
	v.Hold = held(v.Hold, p.Hold, false)
	return change(t, &t.changedCampaigns, backend.EntityCampaign, r, &v, v.Apply(&p))
}

// change sets the value v of a parent, unless the patch that made it was wrong.
func change[V comparable](t *Tx, list *changes[Name, V], entity backend.Entity, r *Parent[Name, V], v *V, wrong error) (uint64, error) {
	if wrong != nil {
		return 0, wrong
	}
	list.set(r, *v)
	t.Report(entity, r.ID, backend.Named)
	return r.ID, nil
}

func (t *Tx) createCampaign(ctx context.Context, key Name, p backend.CampaignPatch) (uint64, error) {
	v := backend.NewCampaign()
	v.Hold = held(0, p.Hold, true)
	if err := v.Apply(&p); err != nil {
		return 0, err
	}
	r := StoredParent(0, key, v)
	if err := t.create(ctx, func() error { return t.Backend.CreateCampaign(ctx, r) }); err != nil {
		return 0, err
	}
	if r.ID == 0 { // another transaction has created it since the campaigns were read
		delete(t.campaignsOf, key.Owner)
		return t.Campaign(ctx, key.Owner, key.Name, p)
	}
	t.KnowCampaign(r)
	t.KnowGroupsOf(r.ID, true)
	t.CampaignNegatives.Created(r.ID)
	t.Report(backend.EntityCampaign, r.ID, backend.Created)
	return r.ID, nil
}

// Group implements backend.Tx. With the status Remove it returns the id of the removed group, or 0.
func (t *Tx) Group(ctx context.Context, campaign uint64, name string, p backend.GroupPatch) (uint64, error) {
	if err := t.Ready(ctx); err != nil {
		return 0, err
	}
	key := Name{campaign, name}
	r, err := t.findGroup(ctx, key)
	if err != nil {
		return 0, t.Fail(ctx, err)
	}
	switch {
	case p.Status == backend.Remove && r == nil:
		return 0, nil
	case p.Status == backend.Remove:
		return r.ID, t.Fail(ctx, t.removeGroup(ctx, r))
	case r == nil:
		return t.createGroup(ctx, key, p)
	}
	v := r.Now
	v.Hold = held(v.Hold, p.Hold, false)
	return change(t, &t.changedGroups, backend.EntityGroup, r, &v, v.Apply(&p))
}

func (t *Tx) createGroup(ctx context.Context, key Name, p backend.GroupPatch) (uint64, error) {
	v := backend.NewGroup()
	v.Hold = held(0, p.Hold, true)
	if err := v.Apply(&p); err != nil {
		return 0, err
	}
	r := StoredParent(0, key, v)
	if err := t.create(ctx, func() error { return t.Backend.CreateGroup(ctx, r) }); err != nil {
		return 0, err
	}
	if r.ID == 0 {
		delete(t.groupsOf, key.Owner)
		return t.Group(ctx, key.Owner, key.Name, p)
	}
	t.KnowGroup(r)
	t.Keywords.Created(r.ID)
	t.GroupNegatives.Created(r.ID)
	t.Ads.Created(r.ID)
	t.Report(backend.EntityGroup, r.ID, backend.Created)
	return r.ID, nil
}

// FindAdvertiser implements backend.Tx.
func (t *Tx) FindAdvertiser(ctx context.Context, name string) (uint64, error) {
	return find(ctx, t, t.findAdvertiser, name)
}

// FindCampaign implements backend.Tx.
func (t *Tx) FindCampaign(ctx context.Context, advertiser uint64, name string) (uint64, error) {
	return find(ctx, t, t.findCampaign, Name{advertiser, name})
}

// FindGroup implements backend.Tx.
func (t *Tx) FindGroup(ctx context.Context, campaign uint64, name string) (uint64, error) {
	return find(ctx, t, t.findGroup, Name{campaign, name})
}

// find returns the id of the entity that a lookup finds by its key, or 0 if there is none.
func find[K, V comparable](ctx context.Context, t *Tx, lookup func(context.Context, K) (*Parent[K, V], error), key K) (uint64, error) {
	if err := t.Ready(ctx); err != nil {
		return 0, err
	}
	r, err := lookup(ctx, key)
	if err != nil || r == nil {
		return 0, t.Fail(ctx, err)
	}
	return r.ID, nil
}

// Keyword implements backend.Tx.
func (t *Tx) Keyword(ctx context.Context, group uint64, p backend.KeywordPatch) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	key, err := KeyOf(p.Words, p.Type)
	initial := Keyword{KeywordSettings: backend.NewKeyword()}
	if err == nil {
		err = p.Check(&initial.KeywordSettings)
	}
	if err != nil {
		return err
	}
	return child(ctx, t, t.Keywords, group, key, p.Status, initial, func(v *Keyword) { v.Apply(p, key.Words) })
}

// Negative implements backend.Tx.
func (t *Tx) Negative(ctx context.Context, owner backend.NegativeOwner, p backend.NegativePatch) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	key, err := KeyOf(p.Words, p.Type)
	if err != nil {
		return err
	}
	table, id := t.GroupNegatives, owner.Group
	switch {
	case owner.Group != 0:
	case owner.Campaign != 0:
		table, id = t.CampaignNegatives, owner.Campaign
	default:
		table, id = t.AdvertiserNegatives, owner.Advertiser
	}
	return child(ctx, t, table, id, key, p.Status, NewNegative(), func(v *Negative) { v.Apply(p, key.Words) })
}

// Ad implements backend.Tx.
func (t *Tx) Ad(ctx context.Context, group uint64, p backend.AdPatch) error {
	if err := t.Ready(ctx); err != nil {
		return err
	}
	key, err := ContentOf(p)
	if err != nil {
		return err
	}
	return child(ctx, t, t.Ads, group, key, p.Status, NewAd(), func(v *Ad) { v.Apply(p) })
}

// child changes, creates or removes a row in one of an owner's tables.
func child[K, V comparable](ctx context.Context, t *Tx, table *Table[K, V], owner uint64, key K, status backend.Status, initial V, change func(*V)) error {
	if status == backend.Remove {
		return t.Fail(ctx, table.Remove(ctx, owner, key))
	}
	return t.create(ctx, func() error { return table.Put(ctx, owner, key, initial, change) })
}
