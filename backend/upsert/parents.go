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
	Now    V // the wanted value
	Before V // the value in the database, or at creation
	queued bool
}

// The kinds of parents.
type (
	AdvertiserRow = Parent[string, backend.AdvertiserSettings]
	CampaignRow   = Parent[Name, backend.CampaignSettings]
	GroupRow      = Parent[Name, backend.GroupSettings]
)

// StoredParent returns a parent with the value that the database has.
func StoredParent[K, V comparable](id uint64, key K, value V) *Parent[K, V] {
	return &Parent[K, V]{ID: id, Key: key, Now: value, Before: value}
}

// changes holds the parents of one kind that may differ from the database, in the order of their changes.
type changes[K, V comparable] []*Parent[K, V]

// set changes the value of a parent.
func (c *changes[K, V]) set(r *Parent[K, V], v V) {
	if r.Now = v; v != r.Before && !r.queued {
		r.queued = true
		*c = append(*c, r)
	}
}

// flush writes the parents that differ.
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

// parents caches the advertisers, campaigns and groups that a transaction knows.
type parents struct {
	advertisers    map[string]*AdvertiserRow
	advertiserByID map[uint64]*AdvertiserRow
	campaigns      map[Name]*CampaignRow
	groups         map[Name]*GroupRow
	// owners maps campaigns to their advertisers.
	owners map[uint64]uint64
	// held maps ids to campaigns that are held, or were when they were read.
	held map[uint64]*CampaignRow
	// campaignsOf and groupsOf say for which advertisers all campaigns are cached, and for which campaigns all
	// groups. The value is false if there are too many to cache.
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
	if p.advertiserByID[r.ID] == nil { // one that is cached, and perhaps changed, is kept
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

// HoldOf returns the hold that a campaign has in the database, as far as this transaction knows. It returns 0 if the
// campaign is not cached, too.
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

// KnowCampaignsOf notes whether all campaigns of an advertiser are cached.
func (p *parents) KnowCampaignsOf(advertiser uint64, all bool) {
	put(&p.campaignsOf, advertiser, all)
}

// KnowGroupsOf notes whether all groups of a campaign are cached.
func (p *parents) KnowGroupsOf(campaign uint64, all bool) { put(&p.groupsOf, campaign, all) }

// CampaignsOf reports whether all campaigns of an advertiser are cached. known is false if that was not noted.
func (p *parents) CampaignsOf(advertiser uint64) (all, known bool) {
	all, known = p.campaignsOf[advertiser]
	return all, known
}

// GroupsOf reports whether all groups of a campaign are cached. known is false if that was not noted.
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
