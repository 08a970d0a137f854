package truth

import (
	"context"
	"maps"
	"slices"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/search/words"
)

// BatchSize is how many items are read at a time.
const BatchSize = 128

// Builders lends out builders of slave data. Each is used by one goroutine at a time, since
// builders cache words.
type Builders struct {
	free      chan *nodedata.Builder
	languages words.Languages
}

// Acquire waits for a free builder; `release` gives it back.
func (b *Builders) Acquire() (builder *nodedata.Builder, release func()) {
	builder = <-b.free
	return builder, func() { b.free <- builder }
}

// version returns the version of what they build.
func (b *Builders) version() uint32 { return nodedata.VersionIn(b.languages) }

// number returns the number of builders.
func (b *Builders) number() int { return cap(b.free) }

// NewBuilders returns n builders for keys in an order and words of some languages.
func NewBuilders(order balance.Order, languages words.Languages, n int) *Builders {
	b := &Builders{free: make(chan *nodedata.Builder, n), languages: languages}
	for range n {
		b.free <- nodedata.NewIn(order, languages)
	}
	return b
}

// Batch holds entries, and the rows that were read for them from one snapshot. Items are mapped by
// id. Parents that an earlier batch had are left out.
type Batch struct {
	Entries     []delivery.Entry
	Items       map[uint64]*backend.Item
	Campaigns   []*backend.Campaign
	Advertisers []*backend.Advertiser
}

// Reader reads from one snapshot. It reads each parent only once.
type Reader struct {
	order                  balance.Order
	snap                   backend.Snapshot
	campaigns, advertisers map[uint64]bool
}

// NewReader returns a reader of a snapshot.
func NewReader(order balance.Order, snap backend.Snapshot) Reader {
	return Reader{order: order, snap: snap, campaigns: make(map[uint64]bool), advertisers: make(map[uint64]bool)}
}

// Read reads the items and parents of entries. Errors: those of the database.
func (r *Reader) Read(ctx context.Context, entries []delivery.Entry) (Batch, error) {
	next := Batch{Entries: entries, Items: make(map[uint64]*backend.Item, len(entries))}
	var ids []uint64
	campaigns, advertisers := map[uint64]bool{}, map[uint64]bool{}
	for _, e := range entries {
		switch {
		case e.Key != 0:
			ids = append(ids, r.order.Item(e.Key))
		case backend.Kind(e.Parent.Kind) == backend.KindCampaign:
			campaigns[e.Parent.ID] = true
		default:
			advertisers[e.Parent.ID] = true
		}
	}
	slices.Sort(ids) // neighbours in the database are read together
	items, err := r.snap.Items(ctx, ids)
	if err != nil {
		return next, err
	}
	for _, it := range items {
		next.Items[it.Group.ID] = it
		campaigns[it.Group.CampaignID], advertisers[it.Group.AdvertiserID] = true, true
	}
	if ids := unread(campaigns, r.campaigns); len(ids) > 0 {
		if next.Campaigns, err = r.snap.Campaigns(ctx, ids); err != nil {
			return next, err
		}
	}
	if ids := unread(advertisers, r.advertisers); len(ids) > 0 {
		next.Advertisers, err = r.snap.Advertisers(ctx, ids)
	}
	return next, err
}

// unread returns the wanted ids that have not been read before, and marks them as read.
func unread(want, read map[uint64]bool) []uint64 {
	var out []uint64
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if !read[id] {
			read[id] = true
			out = append(out, id)
		}
	}
	return out
}
