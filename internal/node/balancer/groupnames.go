package balancer

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"adshard/backend"
	"adshard/internal/node/httpapi/api"
)

const (
	// namesTime bounds how long an answer waits for names.
	namesTime = time.Second
	// namesRead bounds the ad groups that are read for one answer, which come with all that they hold;
	// namesKept those whose names are remembered.
	namesRead = 50
	namesKept = 10_000
)

// groupNames knows the names of hot ad groups. Those of an id never change, so that each is read once.
type groupNames struct {
	mu    sync.Mutex
	known map[uint64]groupName
}

type groupName struct{ advertiser, campaign, group string }

// fill gives names to ad groups, of the first ones if there are many. Those that cannot be read go without: an
// answer about load is worth having while the database is away, which others report.
func (g *groupNames) fill(ctx context.Context, db backend.Feed, list []*api.HotItem) {
	list = list[:min(namesRead, len(list))]
	if ids := g.unknown(list); len(ids) > 0 {
		ctx, cancel := context.WithTimeout(ctx, namesTime)
		defer cancel()
		if read, err := readNames(ctx, db, ids); err == nil {
			g.learn(read)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range list {
		n := g.known[h.GroupID]
		h.Advertiser, h.Campaign, h.Group = n.advertiser, n.campaign, n.group
	}
}

// unknown returns the ad groups whose names are not known.
func (g *groupNames) unknown(list []*api.HotItem) (ids []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range list {
		if _, ok := g.known[h.GroupID]; !ok {
			ids = append(ids, h.GroupID)
		}
	}
	return ids
}

func (g *groupNames) learn(read map[uint64]groupName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known)+len(read) > namesKept {
		g.known = make(map[uint64]groupName)
	}
	maps.Copy(g.known, read)
}

// readNames reads the names of ad groups; missing ones are left out.
func readNames(ctx context.Context, db backend.Feed, ids []uint64) (map[uint64]groupName, error) {
	s, err := db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	items, err := s.Items(ctx, ids)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	campaigns, advertisers, err := ownersOf(ctx, s, items)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]groupName)
	for _, it := range items {
		out[it.Group.ID] = groupName{advertisers[it.Group.AdvertiserID], campaigns[it.Group.CampaignID], it.Group.Name}
	}
	return out, nil
}

// ownersOf reads the names of the campaigns and advertisers of ad groups, of which there is one at least.
func ownersOf(ctx context.Context, s backend.Snapshot, items []*backend.Item) (campaigns, advertisers map[uint64]string, err error) {
	campaigns, advertisers = make(map[uint64]string), make(map[uint64]string)
	for _, it := range items {
		campaigns[it.Group.CampaignID], advertisers[it.Group.AdvertiserID] = "", ""
	}
	in, err := s.Campaigns(ctx, slices.Sorted(maps.Keys(campaigns)))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range in {
		campaigns[c.ID] = c.Name
	}
	of, err := s.Advertisers(ctx, slices.Sorted(maps.Keys(advertisers)))
	for _, a := range of {
		advertisers[a.ID] = a.Name
	}
	return campaigns, advertisers, err
}
