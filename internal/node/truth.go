package node

import (
	"context"
	"fmt"
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
	parts := make([]barrels.Certificate, cap(t.builders.free))
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan []whole, len(parts))
	group.Go(func() error {
		defer close(batches)
		r := wholes{reading: newReading(t.order, snap), builder: nodedata.New(t.order),
			campaigns: make(map[uint64]whole), advertisers: make(map[uint64]*pb.Advertiser)}
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
	out := balance.Certificate{Clock: snap.Position().Clock}
	for i := range out.Bins {
		var sum barrels.Sum
		for _, p := range parts {
			sum.Add(p.Bins[i])
		}
		out.Bins[i] = balance.Sum(sum)
		out.Items += sum.Count
	}
	return out, nil
}

// sum adds batches to a certificate until there are no more.
func (t *truth) sum(batches <-chan []whole, into *barrels.Certificate) error {
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
			into.Bins[balance.Bin(balance.Key(item.Group.Key))].Add(s)
		}
	}
	return nil
}

// wholes reads groups from one snapshot and keeps their parents.
type wholes struct {
	reading     reading
	builder     *nodedata.Builder
	campaigns   map[uint64]whole // without item and advertiser
	advertisers map[uint64]*pb.Advertiser
}

// read returns those of the groups that are there.
func (r *wholes) read(ctx context.Context, keys []balance.Key) ([]whole, error) {
	entries := make([]balance.Entry, len(keys))
	for i, k := range keys {
		entries[i].Key = k
	}
	next, err := r.reading.batch(ctx, entries)
	if err != nil {
		return nil, err
	}
	for _, a := range next.advertisers {
		r.advertisers[a.ID] = r.builder.Advertiser(a)
	}
	for _, c := range next.campaigns {
		record, err := r.builder.Campaign(c)
		if err != nil {
			return nil, fmt.Errorf("campaign %d: %w", c.ID, err)
		}
		r.campaigns[c.ID] = whole{of: c, campaign: record}
	}
	out := make([]whole, 0, len(next.items))
	for _, it := range next.items {
		w, ok := r.campaigns[it.Group.CampaignID]
		if !ok {
			return nil, fault.Newf(fault.Corrupt, "balancer: certify", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
		}
		w.item, w.advertiser = it, r.advertisers[it.Group.AdvertiserID]
		out = append(out, w)
	}
	return out, nil
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
