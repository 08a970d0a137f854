package backend

import (
	"context"
	"iter"
	"time"
)

// Kind is the kind of entity that a feed entry refers to.
type Kind uint8

// The kinds. Changes of keywords, ads and a group's negatives are changes of
// the group; those of a campaign's or an advertiser's negatives are changes of it. A
// change of a campaign's languages is followed by a change of each of its groups,
// since their terms depend on the languages.
const (
	KindAdvertiser Kind = iota + 1
	KindCampaign
	KindGroup
)

// Position is a place in one history of a database's log: after all changes up
// to Clock. Mark is that of the change at Clock, so that two histories that
// have the same clock, such as those after two restores of one backup, have
// different positions. Mark 0, at clock 0 or where it is unknown, is not
// compared.
type Position struct{ Clock, Mark uint64 }

// Change records that an entity was written or removed; its content is read from
// a Snapshot at or after the clock.
type Change struct {
	Clock uint64
	Mark  uint64 // random, never 0; unique also among copies of the database
	Kind  Kind
	ID    uint64
	// AdvertiserID is the advertiser of the group or campaign, so that the
	// key of a removed group can be computed; CampaignID is that of a group.
	AdvertiserID, CampaignID uint64
	Removed                  bool
}

// Feed is the log of changes.
type Feed interface {
	// ID returns the database's id: at least 128 random bits as text, created with the
	// database. A copy of a database has the same id.
	ID(ctx context.Context) (string, error)
	// Newest returns the position of the newest committed change; the zero
	// Position if there is none.
	Newest(ctx context.Context) (Position, error)
	// At returns the position at a clock. Errors: fault.Stale when the clock is
	// below that of the last change compacted; fault.NotFound when there is no
	// such change yet.
	At(ctx context.Context, clock uint64) (Position, error)
	// Changes returns up to limit changes with a clock above that of after, by
	// ascending clock, or an empty slice. Errors: fault.Stale when changes after it
	// have been compacted away and the reader must start again from a Snapshot;
	// fault.Conflict when after has a mark and the change at its clock has
	// another one or is missing: after belongs to another history.
	Changes(ctx context.Context, after Position, limit int) ([]Change, error)
	// Wait returns when the newest position differs from after: when a change was
	// committed, by this process or another, or the database was restored (Changes
	// then fails). It returns ctx's error if ctx is done first.
	Wait(ctx context.Context, after Position) error
	// Snapshot opens a consistent read of everything at one clock. It must be
	// closed soon, since it may block the database's own cleanup.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Hold registers a named reader at a clock; Compact keeps all changes
	// above the lowest clock held. Release removes the reader.
	Hold(ctx context.Context, reader string, clock uint64) error
	Release(ctx context.Context, reader string) error
	// Compact removes the changes that no reader needs any more: those at or
	// below upTo and every held clock. Readers whose last Hold is longer ago than
	// idle do not count; with idle 0, all count. It returns the number of
	// removed changes.
	Compact(ctx context.Context, upTo uint64, idle time.Duration) (int, error)
}

// Snapshot reads all entities as of one position. An entity whose rows
// differ from what was written yields an error, fault.Corrupt with a *Damage that
// names the entity; it must not be served.
type Snapshot interface {
	// Position is that of the newest change that the snapshot includes.
	Position() Position
	// Groups iterates over all groups in ascending id order, with sizes only.
	Groups(ctx context.Context) iter.Seq2[GroupSize, error]
	// Items reads the groups with these ids, in their order; missing ones are
	// left out.
	Items(ctx context.Context, ids []uint64) ([]*Item, error)
	// All iterates over all items by ascending group id, as fast as the database
	// can.
	All(ctx context.Context) iter.Seq2[*Item, error]
	// Campaigns and Advertisers read by id; missing ones are left out; nil ids
	// read all, in ascending id order.
	Campaigns(ctx context.Context, ids []uint64) ([]*Campaign, error)
	Advertisers(ctx context.Context, ids []uint64) ([]*Advertiser, error)
	// IDs returns up to limit ids above after, ascending, of the advertisers, the campaigns of an
	// advertiser or the groups of a campaign; owner 0: of all campaigns or groups.
	IDs(ctx context.Context, kind Kind, owner, after uint64, limit int) ([]uint64, error)
	Close() error
}

// GroupSize is the size of a group, for balancing.
type GroupSize struct {
	ID, AdvertiserID, CampaignID uint64
	// Keywords and Ads are counts; Lexicon is the number of distinct normalised
	// texts of keywords (thesis 2.4).
	Keywords, Ads, Lexicon uint32
}

// Replicated is a Store that has a replica to read from.
type Replicated interface {
	Store
	// FillSnapshot opens a Snapshot at the replica, at the position that it has: a state that the
	// database had, from which its feed goes on. Errors: fault.Behind, the replica has not all
	// changes up to least yet; fault.Unavailable, it cannot be read, or has changes that the
	// database does not show yet; fault.Stale, the changes after it are compacted already;
	// fault.Conflict, it is no replica of this database, or was promoted.
	FillSnapshot(ctx context.Context, least uint64) (Snapshot, error)
}

// FillSnapshot opens a Snapshot for reading much, with all changes up to least: at the
// replica of a database that has one (Replicated).
func FillSnapshot(ctx context.Context, s Store, least uint64) (Snapshot, error) {
	if r, ok := s.(Replicated); ok {
		return r.FillSnapshot(ctx, least)
	}
	return s.Snapshot(ctx)
}

// Server is which server answers for a database. It decides nothing: it shows people the result of a failover.
type Server struct {
	// System is the identifier that a server shares with its standbys, Timeline grows with each promotion of one.
	System   string
	Timeline uint32
}

// Served is a Store on a server.
type Served interface {
	Store
	// Server returns which one answers now; the zero value: it does not say.
	Server(ctx context.Context) (Server, error)
}
