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

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/barrels"
	"adshard/barrels/certify"
	"adshard/barrels/record"
	"adshard/fault"
)

// Certifier makes the certificates of the database's items that every slave must match.
type Certifier struct {
	Order    balance.Order
	DB       backend.Store
	Builders *Builders
}

// adGroup is a group as read, with its campaign.
type adGroup struct {
	item *backend.Item
	of   *backend.Campaign
}

// Part is what one certificate covers: a list of items, and a list of parents.
type Part struct {
	Keys    []balance.Key
	Parents []balance.Parent
}

// Certify returns the certificate of these items and parents, read from a snapshot taken now, and roughly
// how much processor time it took.
func (t *Certifier) Certify(ctx context.Context, keys []balance.Key, parents []balance.Parent) (balance.Certificate, time.Duration, error) {
	all, took, err := t.CertifyAll(ctx, []Part{{Keys: keys, Parents: parents}})
	if err != nil {
		return balance.Certificate{}, took, err
	}
	return all[0], took, nil
}

// CertifyAll returns the certificates of several parts, all from one snapshot taken now. Many small parts
// are read in as few batches as one part with as many items. It also returns roughly how much processor
// time it took. One goroutine reads while others build and sum.
func (t *Certifier) CertifyAll(ctx context.Context, parts []Part) ([]balance.Certificate, time.Duration, error) {
	snap, err := t.DB.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer snap.Close()
	var busy atomic.Int64
	keys, of := owners(parts)
	sums := make([][]barrels.Certificate, t.Builders.number())
	group, both := errgroup.WithContext(ctx)
	batches := make(chan []adGroup, len(sums))
	group.Go(func() error {
		defer close(batches)
		return t.read(both, snap, keys, batches, &busy)
	})
	for i := range sums {
		sums[i] = make([]barrels.Certificate, len(parts))
		group.Go(func() error { return t.sum(batches, of, sums[i], &busy) })
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	begin := time.Now()
	hashes, err := t.parents(ctx, snap, parts)
	if err != nil {
		return nil, 0, err
	}
	out := make([]balance.Certificate, len(parts))
	for i, p := range parts {
		out[i] = balance.Certificate{Clock: snap.Position().Clock, Builder: t.Builders.version(), Parents: hashes.sums(p.Parents)}
		for _, s := range sums {
			add(&out[i], &s[i])
		}
	}
	return out, time.Duration(busy.Load()) + time.Since(begin), nil
}

// owners lists the keys of all parts without duplicates, and for each key the parts that have it.
func owners(parts []Part) (keys []balance.Key, of map[balance.Key][]int) {
	of = make(map[balance.Key][]int)
	for i, p := range parts {
		for _, k := range p.Keys {
			if of[k] == nil {
				keys = append(keys, k)
			}
			of[k] = append(of[k], i)
		}
	}
	return keys, of
}

// add adds the sums of one goroutine.
func add(to *balance.Certificate, some *barrels.Certificate) {
	for i, s := range some.Bins {
		sum := certify.Sum(to.Bins[i])
		sum.Add(s)
		to.Bins[i] = balance.Sum(sum)
		to.Items += s.Count
	}
}

// read reads groups and sends them in batches to `into`.
func (t *Certifier) read(ctx context.Context, snap backend.Snapshot, keys []balance.Key, into chan<- []adGroup, busy *atomic.Int64) error {
	r := groupReader{reading: NewReader(t.Order, snap), campaigns: make(map[uint64]*backend.Campaign)}
	for list := range slices.Chunk(keys, BatchSize) {
		begin := time.Now()
		next, err := r.read(ctx, list)
		busy.Add(int64(time.Since(begin)))
		if err != nil {
			return err
		}
		select {
		case into <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sum adds batches to the certificates of their parts until there are no more.
func (t *Certifier) sum(batches <-chan []adGroup, of map[balance.Key][]int, into []barrels.Certificate, busy *atomic.Int64) error {
	builder, release := t.Builders.Acquire()
	defer release()
	for batch := range batches {
		begin := time.Now()
		for _, w := range batch {
			key, s, err := groupSum(builder, w)
			if err != nil {
				return fmt.Errorf("group %d: %w", w.item.Group.ID, err)
			}
			for _, i := range of[key] {
				into[i].Bins[balance.Bin(key)].Add(s)
			}
		}
		busy.Add(int64(time.Since(begin)))
	}
	return nil
}

// stretch is the number of keywords that are built at a time.
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

// groupReader reads groups from one snapshot and keeps their campaigns.
type groupReader struct {
	reading   Reader
	campaigns map[uint64]*backend.Campaign
}

// read returns the groups that exist among those with these keys.
func (r *groupReader) read(ctx context.Context, keys []balance.Key) ([]adGroup, error) {
	entries := make([]delivery.Entry, len(keys))
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

// Keys lists the items from lo to hi, inclusive, whose bins are set in `wanted`.
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
