package backend

import (
	"context"
	"iter"
	"time"
)

// Kind is the kind of entity that a feed entry refers to.
type Kind uint8

// The kinds. A change of a keyword, an ad or a group's negative is a change of the group; a change of a campaign's or
// an advertiser's negative is a change of the campaign or the advertiser. A change of a campaign's languages is
// followed by a change of each of its groups, since their terms depend on the languages.
const (
	KindAdvertiser Kind = iota + 1
	KindCampaign
	KindGroup
)

// Position is a place in one history of a database's log: after all changes up to Clock. Mark is the mark of the
// change at Clock. It gives two histories with the same clock, such as those after two restores of one backup,
// different positions. A Mark of 0, at clock 0 or where the mark is unknown, is not compared.
type Position struct{ Clock, Mark uint64 }

// Change records that an entity was written or removed. Its content is read from a Snapshot at or after Clock.
type Change struct {
	Clock uint64
	Mark  uint64 // random, never 0; unique even among copies of the database
	Kind  Kind
	ID    uint64
	// AdvertiserID is the advertiser of the group or campaign; the key of a removed group can be computed from it.
	// CampaignID is the campaign of a group.
	AdvertiserID, CampaignID uint64
	Removed                  bool
}

// Feed is the log of changes.
type Feed interface {
	// ID returns the database's id: at least 128 random bits as text, chosen when the database is created. A copy of
	// a database has the same id.
	ID(ctx context.Context) (string, error)
	// Newest returns the position of the newest committed change, or the zero Position if there is none.
	Newest(ctx context.Context) (Position, error)
	// At returns the position at a clock. Errors: fault.Stale if the clock is below that of the newest compacted
	// change, fault.NotFound if there is no such change yet.
	At(ctx context.Context, clock uint64) (Position, error)
	// Changes returns up to `limit` changes with a clock above that of `after`, by ascending clock, or an empty
	// slice. Errors: fault.Stale if changes after that position have been compacted away, so that the reader must
	// start again from a Snapshot; fault.Conflict if `after` has a mark and the change at its clock is missing or has
	// another mark, so that `after` belongs to another history.
	Changes(ctx context.Context, after Position, limit int) ([]Change, error)
	// Wait returns when the newest position differs from `after`: when this or another process has committed a
	// change, or the database was restored (Changes then fails). It returns ctx's error if ctx is done first.
	Wait(ctx context.Context, after Position) error
	// Snapshot opens a consistent read of everything at one clock. It must be
	// closed soon, since it may block the database's own cleanup.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Hold registers a named reader at a clock; Compact keeps all changes above the lowest registered clock. Release
	// removes the reader.
	Hold(ctx context.Context, reader string, clock uint64) error
	Release(ctx context.Context, reader string) error
	// Compact removes the changes that no reader needs any more: those at or below upTo and every registered clock.
	// Readers whose last Hold is longer ago than `idle` are ignored; with idle 0, none is. Compact returns the number
	// of removed changes.
	Compact(ctx context.Context, upTo uint64, idle time.Duration) (int, error)
}

// Snapshot reads all entities as of one position. Reading an entity whose rows differ from what was written yields
// fault.Corrupt with a *Damage that names the entity, which must not be served.
type Snapshot interface {
	// Position returns the position of the newest change that the snapshot includes.
	Position() Position
	// Groups iterates over all groups in ascending id order, with sizes only.
	Groups(ctx context.Context) iter.Seq2[GroupSize, error]
	// Items returns the groups with these ids, in the order of the ids. Missing groups are left out.
	Items(ctx context.Context, ids []uint64) ([]*Item, error)
	// All iterates over all items by ascending group id, as fast as the database allows.
	All(ctx context.Context) iter.Seq2[*Item, error]
	// Campaigns and Advertisers read entities by id; missing ones are left out. With nil ids they read all entities,
	// in ascending id order.
	Campaigns(ctx context.Context, ids []uint64) ([]*Campaign, error)
	Advertisers(ctx context.Context, ids []uint64) ([]*Advertiser, error)
	// IDs returns up to `limit` ids above `after`, in ascending order, of all advertisers, of an advertiser's
	// campaigns or of a campaign's groups. With owner 0 it returns ids of all campaigns or groups.
	IDs(ctx context.Context, kind Kind, owner, after uint64, limit int) ([]uint64, error)
	Close() error
}

// GroupSize is the size of a group, for balancing.
type GroupSize struct {
	ID, AdvertiserID, CampaignID uint64
	// Keywords and Ads are counts. Lexicon is the number of distinct normalised texts of keywords (thesis 2.4).
	Keywords, Ads, Lexicon uint32
}

// Replicated is a Store with a replica from which it can read.
type Replicated interface {
	Store
	// FillSnapshot opens a Snapshot at the replica, at the replica's present position: a state that the database once
	// had, from which its feed continues. Errors: fault.Behind if the replica does not have all changes up to `least`
	// yet; fault.Unavailable if it cannot be read, or has changes that the database does not show yet; fault.Stale if
	// the changes after its position have been compacted away; fault.Conflict if it is not a replica of this database,
	// or was promoted.
	FillSnapshot(ctx context.Context, least uint64) (Snapshot, error)
}

// FillSnapshot opens a Snapshot for reading large amounts of data, with all changes up to `least`. It is opened at
// the replica if the database has one (Replicated).
func FillSnapshot(ctx context.Context, s Store, least uint64) (Snapshot, error) {
	if r, ok := s.(Replicated); ok {
		return r.FillSnapshot(ctx, least)
	}
	return s.Snapshot(ctx)
}

// Server says which server answers for a database. Nothing depends on it: it shows people the result of a failover.
type Server struct {
	// System is the identifier that a server shares with its standbys. Timeline grows each time a standby is
	// promoted.
	System   string
	Timeline uint32
}

// Served is a Store on a server.
type Served interface {
	Store
	// Server returns the server that answers now, or the zero value if the server does not tell.
	Server(ctx context.Context) (Server, error)
}
