package upsert

import (
	"context"

	"adshard/backend"
	"adshard/fault"
)

// Backend is a transaction of a database, as Tx reads and writes it. Its errors are those
// of the database.
type Backend interface {
	// Explain gives an error of the database a kind.
	Explain(ctx context.Context, err error) error
	// Load reads into the cache (Know…) what has this key or id, if there is any.
	LoadAdvertiser(ctx context.Context, name string) error
	LoadAdvertiserByID(ctx context.Context, id uint64) error
	LoadCampaign(ctx context.Context, key Name) error
	LoadGroup(ctx context.Context, key Name) error
	// Create makes what r describes and sets r.ID. It returns 0 if another transaction has
	// made it in the meantime. CreateGroup may leave the writing to UpdateGroups.
	CreateAdvertiser(ctx context.Context, r *AdvertiserRow) error
	CreateCampaign(ctx context.Context, r *CampaignRow) error
	CreateGroup(ctx context.Context, r *GroupRow) error
	// Update sets rows from Before to Now. It is called by each flush, with no rows too.
	UpdateAdvertisers(ctx context.Context, rows []*AdvertiserRow) error
	UpdateCampaigns(ctx context.Context, rows []*CampaignRow) error
	UpdateGroups(ctx context.Context, rows []*GroupRow) error
	// LoadHeld reads what a query selects with an id above after, ascending, at most limit rows.
	LoadHeldCampaigns(ctx context.Context, q backend.HeldQuery, after uint64, limit int) ([]*CampaignRow, error)
	LoadHeldGroups(ctx context.Context, q backend.HeldQuery, after uint64, limit int) ([]*GroupRow, error)
	// Rename writes another name of r, which has its old one.
	RenameCampaign(ctx context.Context, r *CampaignRow, name string) error
	RenameGroup(ctx context.Context, r *GroupRow, name string) error
	// Flushed is called when a flush has written everything.
	Flushed(ctx context.Context) error
	// Remove deletes an advertiser, campaign or group with all that it holds, and reports
	// that (Tx.Report), if Tx.Watched. Everything was flushed before.
	Remove(ctx context.Context, entity backend.Entity, id uint64) error
}

// Limits bound what a transaction keeps in memory.
type Limits struct {
	// Queued is how many changed rows of one table are written together.
	Queued int
	// Cached is how many rows are cached before the cache is emptied.
	Cached int
	// Parents is the same for advertisers, campaigns and groups each.
	Parents int
}

// wholeShare is the share of the cache, one part in so many, that what one owner
// holds may fill.
const wholeShare = 8

// Whole is how many rows of one owner are cached together at most.
func (l Limits) Whole() int { return l.Cached / wholeShare }

// WholeParents is how many campaigns of an advertiser, or groups of a campaign, are
// cached together at most.
func (l Limits) WholeParents() int { return l.Parents / wholeShare }

// Tx is a backend.Tx without its end. It caches the rows that it has read, so that
// an upsert is compared without the database, and queues what differs. It is used by
// one goroutine.
type Tx struct {
	Backend Backend
	Limits  Limits
	// Op names the transaction's operation in errors.
	Op string
	// Done says that the transaction has ended.
	Done bool

	Keywords            *Table[Phrase, Keyword]
	GroupNegatives      *Table[Phrase, Negative]
	CampaignNegatives   *Table[Phrase, Negative]
	AdvertiserNegatives *Table[Phrase, Negative]
	Ads                 *Table[Content, Ad]
	parents

	failure error // the first of the database
	watch   backend.Watcher
}

// Ready returns an error if the transaction cannot continue: the first error of the
// database, fault.Conflict after its end, or that of ctx.
func (t *Tx) Ready(ctx context.Context) error {
	if t.failure != nil {
		return t.failure
	}
	if t.Done {
		return fault.Newf(fault.Conflict, t.Op, "the transaction has ended: begin another")
	}
	return ctx.Err()
}

// Fail records an error of the database, which all later calls return, and gives it
// a kind.
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

// Watched reports whether anybody wants the effects.
func (t *Tx) Watched() bool { return t.watch != nil }

// Report hands an effect to the watcher, if there is one.
func (t *Tx) Report(entity backend.Entity, id uint64, effect backend.Effect) {
	if t.watch != nil {
		t.watch(entity, id, effect)
	}
}

// Flush writes all that differs, and what the backend keeps of it.
func (t *Tx) Flush(ctx context.Context) error {
	if err := t.flushRows(ctx); err != nil {
		return err
	}
	return t.Backend.Flushed(ctx)
}

// flushRows writes all that differs, owners first.
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

// bound keeps the caches small.
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

// forget empties the caches; all must be written.
func (t *Tx) forget() {
	t.parents = parents{}
	t.Keywords.Forget()
	t.GroupNegatives.Forget()
	t.CampaignNegatives.Forget()
	t.AdvertiserNegatives.Forget()
	t.Ads.Forget()
}

// remove deletes an advertiser or campaign with all it holds. The cache is emptied:
// removals are rare.
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
