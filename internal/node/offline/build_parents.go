package offline

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/schema/pb"
)

// parentsOf holds the ids of the parents that a slave's groups need.
type parentsOf struct{ campaigns, advertisers map[uint64]struct{} }

// need collects the parents that each slave's groups need.
func (b *build) need(sizes []backend.GroupSize) {
	b.needed = make([]parentsOf, b.cfg.Slaves)
	for i := range b.needed {
		b.needed[i] = parentsOf{campaigns: map[uint64]struct{}{}, advertisers: map[uint64]struct{}{}}
	}
	for _, g := range sizes {
		key, _ := b.order.Key(g.AdvertiserID, g.ID)
		for _, s := range b.slaves(key) {
			b.total += uint64(g.Keywords)
			b.needed[s].campaigns[g.CampaignID] = struct{}{}
			b.needed[s].advertisers[g.AdvertiserID] = struct{}{}
		}
	}
}

// parents gives each store the parents that its groups need.
func (b *build) parents(ctx context.Context, snap backend.Snapshot) error {
	campaigns, err := snap.Campaigns(ctx, nil)
	if err != nil {
		return err
	}
	advertisers, err := snap.Advertisers(ctx, nil)
	if err != nil {
		return err
	}
	builder := nodedata.NewIn(b.order, b.cfg.Languages)
	b.camps, b.owners = campaigns, make(map[uint64]int, len(campaigns))
	records := make([]*pb.Campaign, len(campaigns))
	for i, c := range campaigns {
		b.owners[c.ID] = i
		if records[i], err = builder.Campaign(c); err != nil {
			return fmt.Errorf("campaign %d: %w", c.ID, err)
		}
	}
	owners := make([]*pb.Advertiser, len(advertisers))
	for i, a := range advertisers {
		if owners[i], err = builder.Advertiser(a); err != nil {
			return fmt.Errorf("advertiser %d: %w", a.ID, err)
		}
	}
	for i, s := range b.stores {
		var cs []*pb.Campaign
		var as []*pb.Advertiser
		for _, c := range records {
			if _, ok := b.needed[i].campaigns[c.Id]; ok {
				cs = append(cs, c)
			}
		}
		for _, a := range owners {
			if _, ok := b.needed[i].advertisers[a.Id]; ok {
				as = append(as, a)
			}
		}
		if err := s.store.AddParents(as, cs); err != nil {
			return err
		}
	}
	b.needed = nil
	return nil
}
