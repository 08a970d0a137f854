package upsert

import (
	"context"

	"adshard/backend"
	"adshard/fault"
)

// Backend is a transaction of a database, as a Tx reads and writes it. Its errors are those of the database.
type Backend interface {
	// Explain returns an error of the database with a kind.
	Explain(ctx context.Context, err error) error
	// The Load methods read the entity with this key or id, if there is one, and cache it (Know…).
	LoadAdvertiser(ctx context.Context, name string) error
	LoadAdvertiserByID(ctx context.Context, id uint64) error
	LoadCampaign(ctx context.Context, key Name) error
	LoadGroup(ctx context.Context, key Name) error
	// The Create methods create the entity that r describes and set r.ID. They leave it 0 if another transaction has
	// created the entity in the meantime. CreateGroup may leave the writing to UpdateGroups.
	CreateAdvertiser(ctx context.Context, r *AdvertiserRow) error
	CreateCampaign(ctx context.Context, r *CampaignRow) error
	CreateGroup(ctx context.Context, r *GroupRow) error
	// The Update methods change rows from Before to Now. Each flush calls them, even without rows.
	UpdateAdvertisers(ctx context.Context, rows []*AdvertiserRow) error
	UpdateCampaigns(ctx context.Context, rows []*CampaignRow) error
	UpdateGroups(ctx context.Context, rows []*GroupRow) error
	// The LoadHeld methods read at most `limit` rows that a query selects, with ids above `after`, in ascending
	// order.
	LoadHeldCampaigns(ctx context.Context, q backend.HeldQuery, after uint64, limit int) ([]*CampaignRow, error)
	LoadHeldGroups(ctx context.Context, q backend.HeldQuery, after uint64, limit int) ([]*GroupRow, error)
	// The Rename methods write a new name of r, which still has its old one.
	RenameCampaign(ctx context.Context, r *CampaignRow, name string) error
	RenameGroup(ctx context.Context, r *GroupRow, name string) error
	// Flushed is called when a flush has written everything.
	Flushed(ctx context.Context) error
	// Remove deletes an advertiser, campaign or group with everything that it holds, and reports that (Tx.Report) if
	// Tx.Watched. Everything has been flushed before.
	Remove(ctx context.Context, entity backend.Entity, id uint64) error
}

// Limits bounds what a transaction keeps in memory.
type Limits struct {
	// Queued is the number of changed rows of one table that are written together.
	Queued int
	// Cached is the number of cached rows at which the cache is emptied.
	Cached int
	// Parents is the number of cached advertisers, of campaigns or of groups at which that cache is emptied.
	Parents int
}

// wholeShare is the divisor for the share of the cache that one owner may fill: an eighth.
const wholeShare = 8

// Whole returns the most rows of one owner that are cached together.
func (l Limits) Whole() int { return l.Cached / wholeShare }

// WholeParents returns the most campaigns of an advertiser, or groups of a campaign, that are cached together.
func (l Limits) WholeParents() int { return l.Parents / wholeShare }

// Tx is a backend.Tx without Commit and Rollback. It caches the rows that it has read, so that an upsert can be
// compared without the database, and queues the rows that differ. It must be used by only one goroutine.
type Tx struct {
	Backend Backend
	Limits  Limits
	// Op is the transaction's operation in errors.
	Op string
	// Done says that the transaction has ended.
	Done bool

	Keywords            *Table[Phrase, Keyword]
	GroupNegatives      *Table[Phrase, Negative]
	CampaignNegatives   *Table[Phrase, Negative]
	AdvertiserNegatives *Table[Phrase, Negative]
	Ads                 *Table[Content, Ad]
	parents

	failure error // the first error of the database
	watch   backend.Watcher
}

// Ready returns an error if the transaction cannot continue: the first error of the database, fault.Conflict after
// the end of the transaction, or the error of ctx.
func (t *Tx) Ready(ctx context.Context) error {
	if t.failure != nil {
		return t.failure
	}
	if t.Done {
		return fault.Newf(fault.Conflict, t.Op, "the transaction has ended: begin another")
	}
	return ctx.Err()
}

// Fail records an error of the database, which all later calls return. It returns the error with a kind.
func (t *Tx) Fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = t.Backend.Explain(ctx, err)
	if t.failure == nil {
		t.failure = err
	}
	return err
}

// Watch implements backend.Tx.
func (t *Tx) Watch(w backend.Watcher) { t.watch = w }

// Watched reports whether the transaction has a watcher.
func (t *Tx) Watched() bool { return t.watch != nil }

// Report passes an effect to the watcher, if there is one.
func (t *Tx) Report(entity backend.Entity, id uint64, effect backend.Effect) {
	if t.watch != nil {
		t.watch(entity, id, effect)
	}
}

// Flush writes everything that differs, and then calls Backend.Flushed.
func (t *Tx) Flush(ctx context.Context) error {
	if err := t.flushRows(ctx); err != nil {
		return err
	}
	return t.Backend.Flushed(ctx)
}

// flushRows writes everything that differs, owners first.
func (t *Tx) flushRows(ctx context.Context) error {
	for _, f := range []func(context.Context) error{
		t.flushParents, t.Keywords.Flush, t.GroupNegatives.Flush, t.CampaignNegatives.Flush, t.AdvertiserNegatives.Flush, t.Ads.Flush,
	} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bound empties the caches when they are full.
func (t *Tx) bound(ctx context.Context) error {
	rows := t.Keywords.Size() + t.GroupNegatives.Size() + t.CampaignNegatives.Size() + t.AdvertiserNegatives.Size() + t.Ads.Size()
	if t.parents.size() < t.Limits.Parents && rows < t.Limits.Cached {
		return nil
	}
	return t.flushAndForget(ctx)
}

func (t *Tx) flushAndForget(ctx context.Context) error {
	if err := t.Flush(ctx); err != nil {
		return err
	}
	t.forget()
	return nil
}

// forget empties the caches, which must have been flushed.
func (t *Tx) forget() {
	t.parents = parents{}
	t.Keywords.Forget()
	t.GroupNegatives.Forget()
	t.CampaignNegatives.Forget()
	t.AdvertiserNegatives.Forget()
	t.Ads.Forget()
}

// remove deletes an advertiser or campaign with everything that it holds. It empties the cache, since removals are
// rare.
func (t *Tx) remove(ctx context.Context, entity backend.Entity, id uint64) error {
	if err := t.flushAndForget(ctx); err != nil {
		return err
	}
	return t.Backend.Remove(ctx, entity, id)
}

func (t *Tx) removeGroup(ctx context.Context, r *GroupRow) error {
	if err := t.Flush(ctx); err != nil {
		return err
	}
	delete(t.groups, r.Key)
	t.Keywords.ForgetOwner(r.ID)
	t.GroupNegatives.ForgetOwner(r.ID)
	t.Ads.ForgetOwner(r.ID)
	return t.Backend.Remove(ctx, backend.EntityGroup, r.ID)
}
