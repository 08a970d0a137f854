package backend

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/search"
)

// Store is the source of truth. Writes go through transactions, and reads through the Feed's snapshots.
type Store interface {
	Feed
	Documents
	// Begin starts a write transaction. A transaction that must wait for another one, for its turn or for an entity
	// that the other has changed, waits up to the store's busy timeout and then fails with fault.Locked. If the store
	// has only one writer at a time, Begin fails; otherwise any call up to Commit may. The transaction can then be
	// repeated.
	Begin(ctx context.Context) (Tx, error)
	// SetBudget marks a campaign's budget. It returns fault.NotFound if there is no such campaign, and fault.Invalid
	// if the share is too large.
	SetBudget(ctx context.Context, campaign uint64, m BudgetMark) error
	// LoadControl and SaveControl read and write values of the balancer's state, which are durable when SaveControl
	// returns. A missing key loads as nil.
	LoadControl(ctx context.Context, key string) ([]byte, error)
	SaveControl(ctx context.Context, key string, value []byte) error
	// SaveControlIf does what SaveControl does if, in the same transaction, the key `guard` has the value `was` (nil:
	// the key is missing). Otherwise it saves nothing and returns fault.Conflict. guard may be the key itself.
	SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error
	// CompactIf does what Hold of a reader at a clock and then Compact up to that clock do, in one transaction and
	// under the same condition as SaveControlIf.
	CompactIf(ctx context.Context, reader string, clock uint64, idle time.Duration, guard string, was []byte) (int, error)
	// Health returns nil if the database can be read, is whole, and is still the one that was opened. Otherwise it
	// returns fault.Unavailable with what happened and what to do. Until the database is healthy again, nothing is
	// read and no write is acknowledged. When the same database is back, it is used again automatically.
	Health(ctx context.Context) error
	// Mark notes that m is making the database, and Finish that m is done; both are durable when they return. Other
	// handles of the database may be open: their Health fails until Finish. Mark returns fault.Conflict with an
	// *Unfinished if another command is making the database.
	Mark(ctx context.Context, m Making) error
	Finish(ctx context.Context, m Making) error
	// Counts returns the number of entities, for summaries.
	Counts(ctx context.Context) (Counts, error)
	Close() error
}

// BudgetMark is what the auction needs to know about a campaign's budget.
type BudgetMark struct {
	Exhausted bool
	// ShareOnly leaves Exhausted unchanged in the database, even if it is set meanwhile.
	ShareOnly bool
	// Share is the number of requests in a million in which the campaign takes part. A reset lets it take part in
	// all.
	Share Patch[uint32]
}

// WholeShare is the share of a campaign that takes part in every request.
const WholeShare = 1_000_000

// Withheld returns the share in the form that a campaign stores: the number of requests in a million without it.
// changed reports whether the mark sets or resets the share. It returns fault.Invalid if the share is too large.
func (m BudgetMark) Withheld() (n uint32, changed bool, err error) {
	if m.Share.Op != Set {
		return 0, m.Share.Op == Reset, nil
	}
	if m.Share.Value > WholeShare {
		return 0, false, fault.Field("set budget", "share_ppm", "a share of %d millionths; 0 to 1000000 can be set", m.Share.Value)
	}
	return WholeShare - m.Share.Value, true, nil
}

// Counts holds the number of entities of each kind.
type Counts struct {
	Advertisers uint64 `json:"advertisers"`
	Campaigns   uint64 `json:"campaigns"`
	Groups      uint64 `json:"groups"`
	Keywords    uint64 `json:"keywords"`
	Negatives   uint64 `json:"negatives"`
	Ads         uint64 `json:"ads"`
}

// Tx is a write transaction. Upserts take a partial entity: nil fields keep the present value, or get the default on
// creation. An upsert finds the entity by its natural key, creates it if it is missing, and writes only what differs,
// so that writing the same rows again changes nothing and does not advance the clock. Ids are given in order of first
// appearance, from 1, and are never reused. Only overlapping transactions leave gaps between them.
//
// A Tx may buffer rows and write them together; errors of the database may be
// returned by a later call. Nothing is visible or durable before Commit returns.
type Tx interface {
	Advertiser(ctx context.Context, name string) (id uint64, err error)
	// UpdateAdvertiser changes an advertiser. With the status Remove it deletes the advertiser with all its content.
	UpdateAdvertiser(ctx context.Context, id uint64, a AdvertiserPatch) error
	Campaign(ctx context.Context, advertiser uint64, name string, c CampaignPatch) (id uint64, err error)
	Group(ctx context.Context, campaign uint64, name string, g GroupPatch) (id uint64, err error)
	Keyword(ctx context.Context, group uint64, k KeywordPatch) error
	Negative(ctx context.Context, owner NegativeOwner, n NegativePatch) error
	Ad(ctx context.Context, group uint64, a AdPatch) error
	// The Find methods look up an entity without creating it. They return 0 if it is missing. Removing a missing
	// entity must not create its parents.
	FindAdvertiser(ctx context.Context, name string) (uint64, error)
	FindCampaign(ctx context.Context, advertiser uint64, name string) (uint64, error)
	FindGroup(ctx context.Context, campaign uint64, name string) (uint64, error)
	// Locations returns the locations of a campaign as the transaction leaves them, or "" if the campaign has none or
	// is missing.
	Locations(ctx context.Context, advertiser uint64, campaign string) (string, error)
	// Rename gives a campaign of an advertiser, or a group of a campaign, another name. It returns the entity's id,
	// which does not change, or 0 if the entity is missing. It returns fault.Conflict if another entity already has
	// that name.
	Rename(ctx context.Context, entity Entity, owner uint64, from, to string) (uint64, error)
	// Held calls change with at most `limit` campaigns or groups that the query selects, with ids above `after` and
	// in ascending order, and sets their holds to what change returns. It returns their number.
	Held(ctx context.Context, q HeldQuery, after uint64, limit int, change func(Held) Hold) (int, error)
	// Names returns the names of an advertiser's campaigns or, if advertiser is 0, of all advertisers. It returns at
	// most `limit` names, in any order.
	Names(ctx context.Context, advertiser uint64, limit int) ([]string, error)
	// Lock keeps other transactions from changing the entity, or what it holds, until this one ends. A Snapshot that
	// is opened after Lock shows the entity as the transaction found it. Lock must be called before the first write.
	// It returns fault.NotFound if there is no such entity.
	Lock(ctx context.Context, kind Kind, id uint64) error
	// Expect returns fault.Conflict unless a control key has the given value; a missing key has none. The key keeps
	// its value until the transaction ends, and transactions that save a value wait. Expect must be called before the
	// first write.
	Expect(ctx context.Context, key string, value []byte) error
	// Receipt notes the answer to a request in the transaction, with a time, for FindReceipt. It deletes receipts
	// that are too old.
	Receipt(ctx context.Context, key string, answer []byte, at time.Time) error
	// Watch makes the transaction report the effects of its writes to w. It must be called before the first write.
	// Created and Removed are reported by the call that causes them, also for entities that are removed with their
	// owner; Changed is reported by any call up to Commit. A change that is undone may or may not be reported.
	// Reports are valid only if Commit succeeds.
	Watch(w Watcher)
	Commit(ctx context.Context) error
	// Rollback undoes the transaction. After Commit it does nothing.
	Rollback() error
}

// NegativeOwner is a group or, if Group is 0, a campaign or, if Campaign is 0 as well, an advertiser.
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
