package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"adshard/backend"
)

// DryRun does what Run does and then calls found with each entity that differs: first advertisers and then campaigns, each
// with their negatives, then groups with their content, all in ascending id order. store must be a copy of the database,
// since DryRun changes it. If Run fails, found still gets the differences up to the error. DryRun returns the errors of
// Run, of the store and of found.
func DryRun(ctx context.Context, store backend.Store, files []string, o Options, found func(*Difference) error) (Summary, error) {
	before, err := store.Snapshot(ctx)
	if err != nil {
		return Summary{}, err
	}
	sum, err := Run(ctx, store, files, o)
	if ctx.Err() == nil {
		err = errors.Join(err, findDifferences(ctx, store, before, found))
	}
	return sum, errors.Join(err, before.Close())
}

func findDifferences(ctx context.Context, store backend.Store, before backend.Snapshot, found func(*Difference) error) error {
	after, err := store.Snapshot(ctx)
	if err != nil {
		return err
	}
	d := &differences{before: before, after: after, found: found, names: make(map[uint64]ownerNames)}
	return errors.Join(d.find(ctx, store), after.Close())
}

// differences compares two snapshots of one database.
type differences struct {
	before, after backend.Snapshot
	found         func(*Difference) error
	// names caches the names of campaigns and their advertisers, by campaign id.
	names map[uint64]ownerNames
}

// ownersCached bounds the campaigns whose names are cached.
const ownersCached = 1 << 12

type ownerNames struct{ advertiser, campaign string }

// comparedTogether is the number of advertisers, campaigns or groups that are compared at once.
const comparedTogether = 256

// find compares the entities that the log says were changed between the snapshots.
func (d *differences) find(ctx context.Context, feed backend.Feed) error {
	var written [backend.KindGroup + 1]roaring64.Bitmap
	for at := d.before.Position(); at.Clock < d.after.Position().Clock; {
		changes, err := feed.Changes(ctx, at, 10_000)
		if err != nil || len(changes) == 0 {
			return err
		}
		for _, c := range changes {
			written[c.Kind].Add(c.ID)
		}
		last := changes[len(changes)-1]
		at = backend.Position{Clock: last.Clock, Mark: last.Mark}
	}
	compare := [...]func(context.Context, []uint64) error{
		backend.KindAdvertiser: d.advertisers, backend.KindCampaign: d.campaigns, backend.KindGroup: d.groups,
	}
	for kind := backend.KindAdvertiser; kind <= backend.KindGroup; kind++ {
		for ids := range slices.Chunk(written[kind].ToArray(), comparedTogether) {
			if err := compare[kind](ctx, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *differences) advertisers(ctx context.Context, ids []uint64) error {
	id := func(a *backend.Advertiser) uint64 { return a.ID }
	return pairs(ctx, ids, d.before.Advertisers, d.after.Advertisers, id, func(was, is *backend.Advertiser) error {
		at := Difference{Entity: backend.EntityAdvertiser, Advertiser: either(was, is).Name}
		if err := report(d, at, was, is, advertiserFields); err != nil {
			return err
		}
		return d.negatives(at, orNone(was).Negatives, orNone(is).Negatives)
	})
}

func (d *differences) campaigns(ctx context.Context, ids []uint64) error {
	id := func(c *backend.Campaign) uint64 { return c.ID }
	return pairs(ctx, ids, d.before.Campaigns, d.after.Campaigns, id, func(was, is *backend.Campaign) error {
		names, err := d.namesOf(ctx, either(was, is))
		if err != nil {
			return err
		}
		at := Difference{Entity: backend.EntityCampaign, Advertiser: names.advertiser, Campaign: names.campaign}
		if err := report(d, at, was, is, campaignFields); err != nil {
			return err
		}
		return d.negatives(at, orNone(was).Negatives, orNone(is).Negatives)
	})
}

// negatives compares two versions of the negatives of an owner.
func (d *differences) negatives(at Difference, was, is []backend.Negative) error {
	at.Entity = backend.EntityNegative
	return reportAll(d, at, was, is, negativeID, negativeFields)
}

func negativeID(n *backend.Negative) uint64 { return n.ID }

func (d *differences) groups(ctx context.Context, ids []uint64) error {
	id := func(it *backend.Item) uint64 { return it.Group.ID }
	return pairs(ctx, ids, d.before.Items, d.after.Items, id, func(was, is *backend.Item) error {
		names, err := d.owners(ctx, either(was, is).Group.CampaignID)
		if err != nil {
			return err
		}
		at := Difference{Entity: backend.EntityGroup, Advertiser: names.advertiser, Campaign: names.campaign, Group: either(was, is).Group.Name}
		if err := report(d, at, was, is, func(it *backend.Item) fieldList { return groupFields(&it.Group) }); err != nil {
			return err
		}
		return d.content(at, orNone(was), orNone(is))
	})
}

// content compares two versions of a group's content.
func (d *differences) content(at Difference, was, is *backend.Item) error {
	at.Entity = backend.EntityKeyword
	err := reportAll(d, at, was.Keywords, is.Keywords, func(k *backend.Keyword) uint64 { return k.ID }, keywordFields)
	if err != nil {
		return err
	}
	if err := d.negatives(at, was.Negatives, is.Negatives); err != nil {
		return err
	}
	at.Entity = backend.EntityAd
	return reportAll(d, at, was.Ads, is.Ads, func(a *backend.Ad) uint64 { return a.ID }, adFields)
}

func orNone[T any](of *T) *T {
	if of == nil {
		return new(T)
	}
	return of
}

func either[T any](was, is *T) *T {
	if is != nil {
		return is
	}
	return was
}

// owners returns the names of a campaign and its advertiser.
func (d *differences) owners(ctx context.Context, campaign uint64) (ownerNames, error) {
	if names, ok := d.names[campaign]; ok {
		return names, nil
	}
	for _, from := range []backend.Snapshot{d.after, d.before} {
		found, err := from.Campaigns(ctx, []uint64{campaign})
		if err != nil {
			return ownerNames{}, err
		}
		if len(found) > 0 {
			return d.namesOf(ctx, found[0])
		}
	}
	return ownerNames{}, nil
}

func (d *differences) namesOf(ctx context.Context, c *backend.Campaign) (ownerNames, error) {
	if names, ok := d.names[c.ID]; ok {
		return names, nil
	}
	names := ownerNames{campaign: c.Name}
	for _, from := range []backend.Snapshot{d.after, d.before} {
		found, err := from.Advertisers(ctx, []uint64{c.AdvertiserID})
		if err != nil {
			return names, err
		}
		if len(found) > 0 {
			names.advertiser = found[0].Name
			break
		}
	}
	if len(d.names) >= ownersCached {
		clear(d.names)
	}
	d.names[c.ID] = names
	return names, nil
}
