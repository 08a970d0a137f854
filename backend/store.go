package backend

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/search"
)

// Store is the source of truth. Writes go through transactions; reads through
// the Feed's snapshots.
type Store interface {
	Feed
	Documents
	// Begin starts a write transaction. A transaction that must wait for another one,
	// for its turn or for an entity that the other has changed, waits up to the
	// store's busy timeout and then fails with fault.Locked: Begin where there is one
	// writer at a time, otherwise any call up to Commit. The transaction can be
	// repeated then.
	Begin(ctx context.Context) (Tx, error)
	// SetBudget marks a campaign's budget; fault.NotFound if there is no such campaign,
	// fault.Invalid for a share that is too large.
	SetBudget(ctx context.Context, campaign uint64, m BudgetMark) error
	// LoadControl and SaveControl read and write the balancer's state, which is
	// durable when SaveControl returns. A missing key loads as nil.
	LoadControl(ctx context.Context, key string) ([]byte, error)
	SaveControl(ctx context.Context, key string, value []byte) error
	// SaveControlIf saves like SaveControl if, in the same transaction, the key
	// guard has the value was (nil: it is missing). Otherwise nothing is saved and
	// the error is fault.Conflict. guard may be the key itself.
	SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error
	// CompactIf is Hold of a reader at a clock and then Compact up to it, in one
	// transaction, under the same condition as SaveControlIf.
	CompactIf(ctx context.Context, reader string, clock uint64, idle time.Duration, guard string, was []byte) (int, error)
	// Health returns nil if the database can be read, is whole, and is still the one that was
	// opened, else fault.Unavailable with what happened and what to do. Until it
	// is healthy again nothing is read and no write is acknowledged; when the same
	// database is back, it is used again automatically.
	Health(ctx context.Context) error
	// Mark notes that m makes the database, and Finish that m is done; both are durable when they return. Other
	// handles of the database may be open: their Health fails until Finish. Errors of Mark: fault.Conflict, with an
	// *Unfinished, if another command makes the database.
	Mark(ctx context.Context, m Making) error
	Finish(ctx context.Context, m Making) error
	// Counts returns the number of entities, for summaries.
	Counts(ctx context.Context) (Counts, error)
	Close() error
}

// BudgetMark is what is known of a campaign's budget, as the auction needs it.
type BudgetMark struct {
	Exhausted bool
	// ShareOnly leaves Exhausted as it is, even if it is set meanwhile.
	ShareOnly bool
	// Share is in how many of a million requests the campaign takes part; reset: in all.
	Share Patch[uint32]
}

// WholeShare is the share of a campaign that takes part in every request.
const WholeShare = 1_000_000

// Withheld returns the share as a campaign has it; changed: the mark says one. Errors:
// fault.Invalid.
func (m BudgetMark) Withheld() (n uint32, changed bool, err error) {
	if m.Share.Op != Set {
		return 0, m.Share.Op == Reset, nil
	}
	if m.Share.Value > WholeShare {
		return 0, false, fault.Field("set budget", "share_ppm", "a share of %d millionths; 0 to 1000000 can be set", m.Share.Value)
	}
	return WholeShare - m.Share.Value, true, nil
}

// Counts is the number of entities by kind.
type Counts struct {
	Advertisers uint64 `json:"advertisers"`
	Campaigns   uint64 `json:"campaigns"`
	Groups      uint64 `json:"groups"`
	Keywords    uint64 `json:"keywords"`
	Negatives   uint64 `json:"negatives"`
	Ads         uint64 `json:"ads"`
}

// Tx is a write transaction. Upserts take a partial entity: nil fields keep
// the present value, or take the default on creation. They find the entity by its
// natural key, create it if it is missing, and write only what differs,
// so that a second run of the same rows changes nothing and moves no clock.
// Ids are given in order of first appearance from 1 and never reused; only
// transactions that overlap leave some out.
//
// A Tx may buffer rows and write them together; errors of the database may be
// returned by a later call. Nothing is visible or durable before Commit returns.
type Tx interface {
	Advertiser(ctx context.Context, name string) (id uint64, err error)
	// UpdateAdvertiser changes an advertiser; removed deletes it with all its content.
	UpdateAdvertiser(ctx context.Context, id uint64, a AdvertiserPatch) error
	Campaign(ctx context.Context, advertiser uint64, name string, c CampaignPatch) (id uint64, err error)
	Group(ctx context.Context, campaign uint64, name string, g GroupPatch) (id uint64, err error)
	Keyword(ctx context.Context, group uint64, k KeywordPatch) error
	Negative(ctx context.Context, owner NegativeOwner, n NegativePatch) error
	Ad(ctx context.Context, group uint64, a AdPatch) error
	// Find looks an entity up without creating it; 0 if it is missing. Removing a
	// missing entity must not create its parents.
	FindAdvertiser(ctx context.Context, name string) (uint64, error)
	FindCampaign(ctx context.Context, advertiser uint64, name string) (uint64, error)
	FindGroup(ctx context.Context, campaign uint64, name string) (uint64, error)
	// Locations are those of a campaign, as the transaction leaves it; "" if it has none, or is missing.
	Locations(ctx context.Context, advertiser uint64, campaign string) (string, error)
	// Rename gives a campaign of an advertiser, or a group of a campaign, another name and returns its id,
	// which stays, or 0 if it is missing. Errors: fault.Conflict if another one has that name.
	Rename(ctx context.Context, entity Entity, owner uint64, from, to string) (uint64, error)
	// Held passes the campaigns or groups of a query with an id above after, ascending, at most limit of
	// them, to change, which returns their new hold. It returns how many there were.
	Held(ctx context.Context, q HeldQuery, after uint64, limit int, change func(Held) Hold) (int, error)
	// Names returns the names of an advertiser's campaigns or, with advertiser
	// 0, of all advertisers: at most limit of them, in any order.
	Names(ctx context.Context, advertiser uint64, limit int) ([]string, error)
	// Lock keeps others from changing the entity, or what it holds, until the transaction ends. A
	// Snapshot that is opened after it shows the entity as the transaction found it. It is called
	// before the first write. Errors: fault.NotFound if there is no such entity.
	Lock(ctx context.Context, kind Kind, id uint64) error
	// Expect fails with fault.Conflict unless a control key has a value, which it keeps until the
	// transaction ends; others that save a value wait. A missing key has none. It is called before the
	// first write.
	Expect(ctx context.Context, key string, value []byte) error
	// Receipt notes in the transaction what a request is answered, for FindReceipt, at a time.
	// Receipts that are too old are forgotten.
	Receipt(ctx context.Context, key string, answer []byte, at time.Time) error
	// Watch makes the transaction report the effects of its writes to w; it is
	// called before the first write. Created and Removed are reported by the call
	// that causes them, also for what is removed with its owner, and Changed by
	// any call up to Commit. A change that is undone may be reported or not.
	// Reports are valid only if Commit succeeds.
	Watch(w Watcher)
	Commit(ctx context.Context) error
	// Rollback undoes the transaction; nothing happens after Commit.
	Rollback() error
}

// NegativeOwner is a group or, with Group 0, a campaign or, with both 0, an advertiser.
type NegativeOwner struct{ Advertiser, Campaign, Group uint64 }

// NegativePatch writes the negative with these words and type.
type NegativePatch struct {
	Text, Words string
	Type        search.MatchType
	Status      Status
}

// AdPatch writes the ad with this content.
type AdPatch struct {
	Headlines, Descriptions []string
	Path1, Path2, FinalURL  string
	Status                  Status
}
