package upsert

import (
	"context"

	"adshard/backend"
)

// Name is the natural key of a campaign or group: its name within its owner.
type Name struct {
	Owner uint64
	Name  string
}

// Parent is a cached advertiser, campaign or group with the natural key K and the
// value V.
type Parent[K, V comparable] struct {
	ID     uint64
	Key    K
	Now    V // wanted
	Before V // in the database, or as it was created
	queued bool
}

// The parents.
type (
	AdvertiserRow = Parent[string, backend.AdvertiserSettings]
	CampaignRow   = Parent[Name, backend.CampaignSettings]
	GroupRow      = Parent[Name, backend.GroupSettings]
)

// StoredParent returns a parent as the database has it.
func StoredParent[K, V comparable](id uint64, key K, value V) *Parent[K, V] {
	return &Parent[K, V]{ID: id, Key: key, Now: value, Before: value}
}

// changes are parents of one kind that may differ from the database, in order.
type changes[K, V comparable] []*Parent[K, V]

// set gives a parent another value.
func (c *changes[K, V]) set(r *Parent[K, V], v V) {
	if r.Now = v; v != r.Before && !r.queued {
		r.queued = true
		*c = append(*c, r)
	}
}

// flush writes those that differ.
func (c *changes[K, V]) flush(ctx context.Context, t *Tx, entity backend.Entity, write func(context.Context, []*Parent[K, V]) error) error {
	var list []*Parent[K, V]
	for _, r := range *c {
		if r.queued = false; r.Now != r.Before {
			list = append(list, r)
		}
	}
	*c = (*c)[:0]
	if err := write(ctx, list); err != nil {
		return err
	}
	for _, r := range list {
		r.Before = r.Now
		t.Report(entity, r.ID, backend.Changed)
	}
	return nil
}

// parents are the advertisers, campaigns and groups that a transaction knows.
type parents struct {
	advertisers    map[string]*AdvertiserRow
	advertiserByID map[uint64]*AdvertiserRow
	campaigns      map[Name]*CampaignRow
	groups         map[Name]*GroupRow
	// owners are the advertisers of campaigns.
	owners map[uint64]uint64
	// held are the campaigns that something holds, or held when they were read.
	held map[uint64]*CampaignRow
	// campaignsOf and groupsOf say of which advertisers all campaigns are cached, and
	// of which campaigns all groups, or false if there are too many.
	campaignsOf, groupsOf map[uint64]bool

	changedAdvertisers changes[string, backend.AdvertiserSettings]
	changedCampaigns   changes[Name, backend.CampaignSettings]
	changedGroups      changes[Name, backend.GroupSettings]
}

func (p *parents) size() int { return max(len(p.advertisers), len(p.campaigns), len(p.groups)) }

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}

// KnowAdvertiser caches an advertiser.
func (p *parents) KnowAdvertiser(r *AdvertiserRow) {
	if p.advertiserByID[r.ID] == nil { // one that is changed already stays
		put(&p.advertisers, r.Key, r)
		put(&p.advertiserByID, r.ID, r)
	}
}

// KnowCampaign caches a campaign.
func (p *parents) KnowCampaign(r *CampaignRow) {
	if p.campaigns[r.Key] == nil {
		put(&p.campaigns, r.Key, r)
		put(&p.owners, r.ID, r.Key.Owner)
		if r.Now.Hold != 0 {
			put(&p.held, r.ID, r)
		}
	}
}

// HoldOf returns the hold of a campaign as this transaction knows it in the database; 0 also if the
// campaign is not cached.
func (p *parents) HoldOf(campaign uint64) backend.Hold {
	if r := p.held[campaign]; r != nil {
		return r.Before.Hold
	}
	return 0
}

// KnowGroup caches a group.
func (p *parents) KnowGroup(r *GroupRow) {
	if p.groups[r.Key] == nil {
		put(&p.groups, r.Key, r)
	}
}

// KnowOwner caches the advertiser of a campaign.
func (p *parents) KnowOwner(campaign, advertiser uint64) { put(&p.owners, campaign, advertiser) }

// Owner returns the advertiser of a campaign, or 0 if it is not cached.
func (p *parents) Owner(campaign uint64) uint64 { return p.owners[campaign] }

// KnowCampaignsOf notes whether all campaigns of an advertiser are cached, known
// whether that was noted; KnowGroupsOf does so for the groups of a campaign.
func (p *parents) KnowCampaignsOf(advertiser uint64, all bool) {
	put(&p.campaignsOf, advertiser, all)
}

// KnowGroupsOf is KnowCampaignsOf for the groups of a campaign.
func (p *parents) KnowGroupsOf(campaign uint64, all bool) { put(&p.groupsOf, campaign, all) }

// CampaignsOf reports whether all campaigns of an advertiser are cached, and whether
// that is known.
func (p *parents) CampaignsOf(advertiser uint64) (all, known bool) {
	all, known = p.campaignsOf[advertiser]
	return all, known
}

// GroupsOf is CampaignsOf for the groups of a campaign.
func (p *parents) GroupsOf(campaign uint64) (all, known bool) {
	all, known = p.groupsOf[campaign]
	return all, known
}

func (t *Tx) findAdvertiser(ctx context.Context, name string) (*AdvertiserRow, error) {
	if r := t.advertisers[name]; r != nil {
		return r, nil
	}
	err := t.Backend.LoadAdvertiser(ctx, name)
	return t.advertisers[name], err
}

func (t *Tx) findCampaign(ctx context.Context, key Name) (*CampaignRow, error) {
	if r := t.campaigns[key]; r != nil || t.campaignsOf[key.Owner] {
		return r, nil
	}
	err := t.Backend.LoadCampaign(ctx, key)
	return t.campaigns[key], err
}

func (t *Tx) findGroup(ctx context.Context, key Name) (*GroupRow, error) {
	if r := t.groups[key]; r != nil || t.groupsOf[key.Owner] {
		return r, nil
	}
	err := t.Backend.LoadGroup(ctx, key)
	return t.groups[key], err
}

func (t *Tx) flushParents(ctx context.Context) error {
	if err := t.changedAdvertisers.flush(ctx, t, backend.EntityAdvertiser, t.Backend.UpdateAdvertisers); err != nil {
		return err
	}
	if err := t.changedCampaigns.flush(ctx, t, backend.EntityCampaign, t.Backend.UpdateCampaigns); err != nil {
		return err
	}
	return t.changedGroups.flush(ctx, t, backend.EntityGroup, t.Backend.UpdateGroups)
}
