// Package truth reads groups with their parents from a snapshot of the database
// and makes the certificates that every slave's data must match.
package truth

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/barrels"
	"adshard/barrels/certify"
	"adshard/barrels/record"
	"adshard/fault"
)

// Certifier makes certificates of the database's items: those that every slave must
// match.
type Certifier struct {
	Order    balance.Order
	DB       backend.Store
	Builders *Builders
}

// adGroup is a group with its campaign, as read.
type adGroup struct {
	item *backend.Item
	of   *backend.Campaign
}

// Certify returns the certificate of these items and parents, read from a
// snapshot taken now, and about how much processor time that took. One goroutine
// reads while others build and sum.
func (t *Certifier) Certify(ctx context.Context, keys []balance.Key, parents []balance.Parent) (balance.Certificate, time.Duration, error) {
	snap, err := t.DB.Snapshot(ctx)
	if err != nil {
		return balance.Certificate{}, 0, err
	}
	defer snap.Close()
	var busy atomic.Int64
	parts := make([]barrels.Certificate, t.Builders.number())
	group, both := errgroup.WithContext(ctx)
	batches := make(chan []adGroup, len(parts))
	group.Go(func() error {
		defer close(batches)
		r := groupReader{reading: NewReader(t.Order, snap), campaigns: make(map[uint64]*backend.Campaign)}
		for list := range slices.Chunk(keys, BatchSize) {
			begin := time.Now()
			next, err := r.read(both, list)
			busy.Add(int64(time.Since(begin)))
			if err != nil {
				return err
			}
			select {
			case batches <- next:
			case <-both.Done():
				return both.Err()
			}
		}
		return nil
	})
	for i := range parts {
		group.Go(func() error { return t.sum(batches, &parts[i], &busy) })
	}
	if err := group.Wait(); err != nil {
		return balance.Certificate{}, 0, err
	}
	out := balance.Certificate{Clock: snap.Position().Clock, Builder: nodedata.Version}
	for i := range out.Bins {
		var sum certify.Sum
		for _, p := range parts {
			sum.Add(p.Bins[i])
		}
		out.Bins[i] = balance.Sum(sum)
		out.Items += sum.Count
	}
	begin := time.Now()
	out.Parents, err = t.parents(ctx, snap, parents)
	return out, time.Duration(busy.Load()) + time.Since(begin), err
}

// sum adds batches to a certificate until there are no more.
func (t *Certifier) sum(batches <-chan []adGroup, into *barrels.Certificate, busy *atomic.Int64) error {
	builder, release := t.Builders.Take()
	defer release()
	for batch := range batches {
		begin := time.Now()
		for _, w := range batch {
			key, s, err := groupSum(builder, w)
			if err != nil {
				return fmt.Errorf("group %d: %w", w.item.Group.ID, err)
			}
			into.Bins[balance.Bin(key)].Add(s)
		}
		busy.Add(int64(time.Since(begin)))
	}
	return nil
}

// stretch is how many keywords are built at a time.
const stretch = 1 << 12

// groupSum returns a group's key and sum.
func groupSum(builder *nodedata.Builder, g adGroup) (balance.Key, certify.Sum, error) {
	item, err := builder.Group(g.item)
	if err != nil {
		return 0, certify.Sum{}, err
	}
	sum := record.NewSummer(item.Group)
	for some := range slices.Chunk(g.item.Keywords, stretch) {
		list, err := builder.Keywords(g.item, some, g.of)
		if err != nil {
			return 0, certify.Sum{}, err
		}
		sum.Add(list)
	}
	s, err := sum.Sum()
	return balance.Key(item.Group.Key), s, err
}

// parents returns the sums of those parents that exist.
func (t *Certifier) parents(ctx context.Context, snap backend.Snapshot, list []balance.Parent) (out []balance.ParentSum, err error) {
	builder, release := t.Builders.Take()
	defer release()
	ids := map[backend.Kind][]uint64{}
	for _, p := range list {
		ids[backend.Kind(p.Kind)] = append(ids[backend.Kind(p.Kind)], p.ID)
	}
	add := func(kind backend.Kind, id uint64, stored proto.Message) error {
		hi, lo, err := record.ParentHash(stored)
		out = append(out, balance.ParentSum{Parent: balance.Parent{Kind: uint8(kind), ID: id}, Hi: hi, Lo: lo})
		return err
	}
	for wanted := range slices.Chunk(ids[backend.KindAdvertiser], BatchSize) {
		list, err := snap.Advertisers(ctx, wanted)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			if err := add(backend.KindAdvertiser, a.ID, builder.Advertiser(a)); err != nil {
				return nil, err
			}
		}
	}
	for wanted := range slices.Chunk(ids[backend.KindCampaign], BatchSize) {
		list, err := snap.Campaigns(ctx, wanted)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			record, err := builder.Campaign(c)
			if err == nil {
				err = add(backend.KindCampaign, c.ID, record)
			}
			if err != nil {
				return nil, fmt.Errorf("campaign %d: %w", c.ID, err)
			}
		}
	}
	return out, nil
}

// groupReader reads groups from one snapshot and keeps their campaigns.
type groupReader struct {
	reading   Reader
	campaigns map[uint64]*backend.Campaign
}

// read returns those of the groups that exist.
func (r *groupReader) read(ctx context.Context, keys []balance.Key) ([]adGroup, error) {
	entries := make([]balance.Entry, len(keys))
	for i, k := range keys {
		entries[i].Key = k
	}
	next, err := r.reading.Read(ctx, entries)
	if err != nil {
		return nil, err
	}
	for _, c := range next.Campaigns {
		r.campaigns[c.ID] = c
	}
	out := make([]adGroup, 0, len(next.Items))
	for _, it := range next.Items {
		c, ok := r.campaigns[it.Group.CampaignID]
		if !ok {
			return nil, fault.Newf(fault.Corrupt, "balancer: certify", "group %d has no campaign %d", it.Group.ID, it.Group.CampaignID)
		}
		out = append(out, adGroup{it, c})
	}
	return out, nil
}

// Keys lists the items from lo to hi, inclusive, whose bins are set in wanted.
func Keys(items balance.Items, lo, hi balance.Key, wanted uint64) []balance.Key {
	var keys []balance.Key
	items.Ascend(lo, hi, func(k balance.Key, _ uint32) bool {
		if wanted>>balance.Bin(k)&1 == 1 {
			keys = append(keys, k)
		}
		return true
	})
	return keys
}
