package balancer

import (
	"context"
	"maps"
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
	// namesMissed is when a group that could not be read is tried again.
	namesMissed = time.Minute
)

// groupNames knows the names of hot ad groups. Those of an id never change, so that each is read once.
type groupNames struct {
	reading sync.Mutex // held while reading; others answer with what is known
	mu      sync.Mutex
	known   map[uint64]groupName // under mu
}

type groupName struct {
	advertiser, campaign, group string
	missed                      time.Time // it could not be read then, or zero if it was
}

// fill gives names to ad groups, of the first ones if there are many. Groups whose names cannot be read have none:
// an answer about load is worth having while the database is away, which is reported elsewhere.
func (g *groupNames) fill(ctx context.Context, db backend.Feed, list []*api.HotItem) {
	list = list[:min(namesRead, len(list))]
	names, unknown := g.lookup(list)
	if len(unknown) > 0 && g.reading.TryLock() {
		defer g.reading.Unlock()
		ctx, cancel := context.WithTimeout(ctx, namesTime)
		defer cancel()
		read := readNames(ctx, db, unknown)
		g.learn(read)
		maps.Copy(names, read)
	}
	for _, h := range list {
		n := names[h.GroupID]
		h.Advertiser, h.Campaign, h.Group = n.advertiser, n.campaign, n.group
	}
}

// lookup returns the known names of ad groups, and the groups whose names must be read.
func (g *groupNames) lookup(list []*api.HotItem) (names map[uint64]groupName, unknown []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	names = make(map[uint64]groupName)
	for _, h := range list {
		n, known := g.known[h.GroupID]
		names[h.GroupID] = n
		if !known || !n.missed.IsZero() && time.Since(n.missed) > namesMissed {
			unknown = append(unknown, h.GroupID)
		}
	}
	return names, unknown
}

func (g *groupNames) learn(read map[uint64]groupName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known)+len(read) > namesKept {
		g.known = make(map[uint64]groupName)
	}
	maps.Copy(g.known, read)
}

// readNames reads the names of ad groups one by one: a damaged or missing one does not keep others from having
// theirs.
func readNames(ctx context.Context, db backend.Feed, ids []uint64) map[uint64]groupName {
	out := make(map[uint64]groupName)
	for _, id := range ids {
		out[id] = groupName{missed: time.Now()}
	}
	s, err := db.Snapshot(ctx)
	if err != nil {
		return out
	}
	defer s.Close()
	for _, id := range ids {
		if n, ok := readName(ctx, s, id); ok {
			out[id] = n
		}
	}
	return out
}

// readName reads the names of an ad group and its owners, if it is there.
func readName(ctx context.Context, s backend.Snapshot, id uint64) (n groupName, ok bool) {
	items, err := s.Items(ctx, []uint64{id})
	if err != nil || len(items) == 0 {
		return n, false
	}
	of := items[0].Group
	campaigns, err := s.Campaigns(ctx, []uint64{of.CampaignID})
	if err != nil || len(campaigns) == 0 {
		return n, false
	}
	advertisers, err := s.Advertisers(ctx, []uint64{of.AdvertiserID})
	if err != nil || len(advertisers) == 0 {
		return n, false
	}
	return groupName{advertiser: advertisers[0].Name, campaign: campaigns[0].Name, group: of.Name}, true
}
