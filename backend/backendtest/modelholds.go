package backendtest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"adshard/backend"
)

// Locations implements backend.Tx.
func (m *Model) Locations(ctx context.Context, advertiser uint64, campaign string) (string, error) {
	id, err := m.FindCampaign(ctx, advertiser, campaign)
	return m.open.Campaigns[id].Locations, err
}

// Rename implements backend.Tx.
func (m *Model) Rename(ctx context.Context, entity backend.Entity, owner uint64, from, to string) (uint64, error) {
	find := m.FindGroup
	if entity == backend.EntityCampaign {
		find = m.FindCampaign
	}
	id, _ := find(ctx, owner, from)
	if id == 0 {
		return 0, nil
	}
	if other, _ := find(ctx, owner, to); other != 0 {
		return 0, fmt.Errorf("there is one")
	}
	if entity == backend.EntityCampaign {
		c := m.open.Campaigns[id]
		c.Name = to
		m.open.Campaigns[id] = c
		return id, nil
	}
	it := m.open.Items[id]
	it.Group.Name = to
	m.open.Items[id] = it
	return id, nil
}

// Held implements backend.Tx.
func (m *Model) Held(_ context.Context, q backend.HeldQuery, after uint64, limit int, change func(backend.Held) backend.Hold) (n int, err error) {
	fits := func(id, owner uint64, h backend.Hold) bool {
		fit := q.Import != 0 && h.Import() == q.Import || q.Any && h != 0 || q.ID == id || q.Free != 0 && h == 0 && owner == q.Free
		if fit = fit && id > after && n < limit; fit {
			n++
		}
		return fit
	}
	if q.Groups {
		for _, id := range slices.Sorted(maps.Keys(m.open.Items)) {
			it := m.open.Items[id]
			if g := &it.Group; fits(id, g.CampaignID, g.Hold) {
				g.Hold = change(backend.Held{ID: id, Owner: g.CampaignID, Name: g.Name, Hold: g.Hold})
				m.open.Items[id] = it
			}
		}
		return n, nil
	}
	for _, id := range slices.Sorted(maps.Keys(m.open.Campaigns)) {
		if c := m.open.Campaigns[id]; fits(id, c.AdvertiserID, c.Hold) {
			c.Hold = change(backend.Held{ID: id, Owner: c.AdvertiserID, Name: c.Name, Hold: c.Hold})
			m.open.Campaigns[id] = c
		}
	}
	return n, nil
}

// hold returns the hold of an entity after a write.
func hold(now backend.Hold, change backend.HoldChange, made bool) backend.Hold {
	if change == nil {
		return now
	}
	return change.Change(now, made)
}
