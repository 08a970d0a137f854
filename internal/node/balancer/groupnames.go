package balancer

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"adshard/backend"
	"adshard/internal/node/httpapi/api"
)

const (
	// namesTime bounds how long names are read, and namesWait how long an answer waits for them.
	namesTime = time.Second
	namesWait = 100 * time.Millisecond
	// namesRead bounds the ad groups that are read for one answer, since each comes with all its contents;
	// namesKept bounds the groups whose names are remembered.
	namesRead = 50
	namesKept = 10_000
	// namesMissed is the time after which a group that could not be read is tried again.
	namesMissed = time.Minute
)

// groupNames remembers the names of hot ad groups. The names of an id never change, so each is read once.
type groupNames struct {
	reading sync.Mutex // held while reading; other callers use the names that are known
	mu      sync.Mutex
	known   map[uint64]groupName // under mu
	wait    time.Duration        // how long an answer waits for names; 0: namesWait
}

type groupName struct {
	advertiser, campaign, group string
	missed                      time.Time // when it could not be read, or zero if it was read
}

// fill gives names to the first namesRead ad groups of a list. Groups whose names cannot be read get none: an
// answer about load is useful even while the database is away, which is reported elsewhere.
func (g *groupNames) fill(ctx context.Context, db backend.Feed, list []*api.HotItem) {
	list = list[:min(namesRead, len(list))]
	names, unknown := g.lookup(list)
	if len(unknown) > 0 && g.reading.TryLock() {
		read := make(chan map[uint64]groupName, 1)
		go func() { // it goes on for the next answer if this one does not wait
			defer g.reading.Unlock()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), namesTime)
			defer cancel()
			more := readNames(ctx, db, unknown)
			g.learn(more)
			read <- more
		}()
		select {
		case more := <-read:
			maps.Copy(names, more)
		case <-time.After(cmp.Or(g.wait, namesWait)):
		}
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

// readNames reads the names of ad groups one by one, so that a damaged or missing group does not cost the others
// their names.
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

// readName reads the names of an ad group and its owners. ok is false if they cannot be read.
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
