package data

import (
	"context"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

const op = "data"

// state reads entities in one snapshot, each row once.
type state struct {
	backend.Snapshot
	database    string
	advertisers map[uint64]*backend.Advertiser
	campaigns   map[uint64]*backend.Campaign
	groups      map[uint64]*backend.Item
}

// open opens the present state. The caller closes it.
func (s *Service) open(ctx context.Context) (*state, error) {
	id, err := s.db.ID(ctx)
	if err != nil {
		return nil, err
	}
	n, err := s.db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &state{Snapshot: n, database: id, advertisers: map[uint64]*backend.Advertiser{}, campaigns: map[uint64]*backend.Campaign{},
		groups: map[uint64]*backend.Item{}}, nil
}

// atOnce bounds the groups that are read together.
const atOnce = 64

// load reads the rows that have not been read yet.
func (s *state) load(ctx context.Context, rows []row) error {
	wanted := map[backend.Kind][]uint64{}
	for _, r := range rows {
		wanted[r.kind] = append(wanted[r.kind], r.id)
	}
	for ids := wanted[backend.KindGroup]; len(ids) > 0; ids = ids[min(atOnce, len(ids)):] {
		items, err := s.Items(ctx, ids[:min(atOnce, len(ids))])
		if err != nil {
			return err
		}
		for _, it := range items {
			s.groups[it.Group.ID] = it
		}
	}
	if ids := wanted[backend.KindCampaign]; len(ids) > 0 {
		list, err := s.Campaigns(ctx, ids)
		if err != nil {
			return err
		}
		for _, c := range list {
			s.campaigns[c.ID] = c
		}
	}
	if ids := wanted[backend.KindAdvertiser]; len(ids) > 0 {
		list, err := s.Advertisers(ctx, ids)
		if err != nil {
			return err
		}
		for _, a := range list {
			s.advertisers[a.ID] = a
		}
	}
	return nil
}

// item returns an entity whose row has been loaded. Errors: fault.NotFound.
func (s *state) item(key Key) (*api.Item, error) {
	it, held := s.find(key)
	if it == nil {
		return nil, fault.Newf(fault.NotFound, op, "there is no %v", key)
	}
	tag(s.database, it, held)
	return it, nil
}

// find returns an entity, and what its ETag covers in addition to its fields. The entity is nil if
// it is missing.
func (s *state) find(key Key) (it *api.Item, held any) {
	g := s.groups[key.Group]
	switch {
	case key.Type == backend.EntityAdvertiser:
		if a := s.advertisers[key.ID]; a != nil {
			return advertiserItem(a), nil
		}
	case key.Type == backend.EntityCampaign:
		if c := s.campaigns[key.ID]; c != nil {
			return campaignItem(c), c.Negatives
		}
	case key.Type == backend.EntityGroup:
		if g := s.groups[key.ID]; g != nil {
			return groupItem(&g.Group), nil
		}
	case key.Type == backend.EntityNegative:
		return s.negative(key), nil
	case g != nil:
		return inGroup(g, key), nil
	}
	return nil, nil
}

// negative returns a negative, or nil if it is missing.
func (s *state) negative(key Key) *api.Item {
	list, _ := s.negatives(key)
	n := byID(list, key.ID, func(n *backend.Negative) uint64 { return n.ID })
	if n == nil {
		return nil
	}
	var version uint64
	switch {
	case key.Group != 0:
		version = s.groups[key.Group].Group.Version
	case key.Campaign != 0:
		version = s.campaigns[key.Campaign].Version
	default:
		version = s.advertisers[key.Advertiser].Version
	}
	return negativeItem(n, key, version)
}

// negatives returns the negatives of an owner, or false if the owner is missing.
func (s *state) negatives(key Key) ([]backend.Negative, bool) {
	if g := s.groups[key.Group]; g != nil {
		return g.Negatives, true
	}
	if c := s.campaigns[key.Campaign]; c != nil {
		return c.Negatives, true
	}
	if a := s.advertisers[key.Advertiser]; a != nil {
		return a.Negatives, true
	}
	return nil, false
}

func inGroup(g *backend.Item, key Key) *api.Item {
	switch key.Type {
	case backend.EntityKeyword:
		if k := byID(g.Keywords, key.ID, func(k *backend.Keyword) uint64 { return k.ID }); k != nil {
			return keywordItem(k, g.Group.Version)
		}
	case backend.EntityAd:
		if a := byID(g.Ads, key.ID, func(a *backend.Ad) uint64 { return a.ID }); a != nil {
			return adItem(a, g.Group.Version)
		}
	}
	return nil
}

// byID returns the entity with an id, or nil if it is missing.
func byID[T any](list []T, id uint64, of func(*T) uint64) *T {
	for i := range list {
		if of(&list[i]) == id {
			return &list[i]
		}
	}
	return nil
}
