package node

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/barrels"
	"adshard/fault"
	"adshard/schema/pb"
)

// truth makes certificates of what the database says: what every slave that
// holds an interval must have of it.
type truth struct {
	order    balance.Order
	db       backend.Store
	builders *builders
}

// whole is a group with its parents, as read and as slaves get them.
type whole struct {
	item       *backend.Item
	of         *backend.Campaign
	campaign   *pb.Campaign
	advertiser *pb.Advertiser
}

// certify returns the certificate of these items, read from a snapshot taken
// now. One goroutine reads while others build and sum.
func (t *truth) certify(ctx context.Context, keys []balance.Key) (balance.Certificate, error) {
	snap, err := t.db.Snapshot(ctx)
	if err != nil {
		return balance.Certificate{}, err
	}
	defer snap.Close()
	sum := balance.Certificate{Clock: snap.Clock()}
	parts := make([]balance.Certificate, cap(t.builders.free))
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan []whole, len(parts))
	group.Go(func() error {
		defer close(batches)
		r := wholes{order: t.order, snap: snap, builder: nodedata.New(t.order),
			campaigns: make(map[uint64]*whole), advertisers: make(map[uint64]*pb.Advertiser)}
		for list := range slices.Chunk(keys, readBatch) {
			next, err := r.read(ctx, list)
			if err != nil {
				return err
			}
			select {
			case batches <- next:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i := range parts {
		group.Go(func() error { return t.sum(batches, &parts[i]) })
	}
	if err := group.Wait(); err != nil {
		return balance.Certificate{}, err
	}
	for _, p := range parts {
		sum.Items += p.Items
		for i, s := range p.Bins {
			sum.Bins[i] = balance.Sum(added(barrels.Sum(sum.Bins[i]), barrels.Sum(s)))
		}
	}
	return sum, nil
}

func added(a, b barrels.Sum) barrels.Sum {
	a.Add(b)
	return a
}

// sum adds batches to a certificate until there are no more.
func (t *truth) sum(batches <-chan []whole, into *balance.Certificate) error {
	builder := <-t.builders.free
	defer func() { t.builders.free <- builder }()
	for batch := range batches {
		for _, w := range batch {
			item, err := builder.Item(w.item, w.of)
			if err != nil {
				return fmt.Errorf("group %d: %w", w.item.Group.ID, err)
			}
			s, err := barrels.ItemSum(item, w.campaign, w.advertiser)
			if err != nil {
				return fmt.Errorf("group %d: %w", w.item.Group.ID, err)
			}
			bin := &into.Bins[balance.Bin(balance.Key(item.Group.Key))]
			*bin = balance.Sum(added(barrels.Sum(*bin), s))
			into.Items++
		}
	}
	return nil
}

// wholes reads groups from one snapshot and remembers their parents.
type wholes struct {
	order       balance.Order
	snap        backend.Snapshot
	builder     *nodedata.Builder
	campaigns   map[uint64]*whole // without item
	advertisers map[uint64]*pb.Advertiser
}

// read returns those of the groups that are there.
func (r *wholes) read(ctx context.Context, keys []balance.Key) ([]whole, error) {
	ids := make([]uint64, len(keys))
	for i, k := range keys {
		ids[i] = r.order.Item(k)
	}
	slices.Sort(ids) // neighbours in the database are read together
	items, err := r.snap.Items(ctx, ids)
	if err != nil {
		return nil, err
	}
	if err := r.parents(ctx, items); err != nil {
		return nil, err
	}
	out := make([]whole, 0, len(items))
	for _, it := range items {
		w, ok := r.campaigns[it.Group.CampaignID]
		if !ok {
			return nil, fault.Newf(fault.Corrupt, "balancer: certify", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
		}
		out = append(out, whole{it, w.of, w.campaign, r.advertisers[it.Group.AdvertiserID]})
	}
	return out, nil
}

// parents reads those that were not read before.
func (r *wholes) parents(ctx context.Context, items []*backend.Item) error {
	campaigns, advertisers := map[uint64]bool{}, map[uint64]bool{}
	for _, it := range items {
		if r.campaigns[it.Group.CampaignID] == nil {
			campaigns[it.Group.CampaignID] = true
		}
		if r.advertisers[it.Group.AdvertiserID] == nil {
			advertisers[it.Group.AdvertiserID] = true
		}
	}
	if len(campaigns) > 0 {
		list, err := r.snap.Campaigns(ctx, slices.Sorted(maps.Keys(campaigns)))
		if err != nil {
			return err
		}
		for _, c := range list {
			record, err := r.builder.Campaign(c)
			if err != nil {
				return fmt.Errorf("campaign %d: %w", c.ID, err)
			}
			r.campaigns[c.ID] = &whole{of: c, campaign: record}
		}
	}
	if len(advertisers) == 0 {
		return nil
	}
	list, err := r.snap.Advertisers(ctx, slices.Sorted(maps.Keys(advertisers)))
	for _, a := range list {
		r.advertisers[a.ID] = r.builder.Advertiser(a)
	}
	return err
}

// wantedKeys lists the known items from lo to hi whose bins are wanted.
func wantedKeys(items balance.Items, lo, hi balance.Key, wanted uint64) []balance.Key {
	var keys []balance.Key
	items.Ascend(lo, hi, func(k balance.Key, _ uint32) bool {
		if wanted>>balance.Bin(k)&1 == 1 {
			keys = append(keys, k)
		}
		return true
	})
	return keys
}
