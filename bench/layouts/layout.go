package layouts

import (
	"context"

	"adshard/search"
)

// Query is a query made ready for all layouts.
type Query struct {
	// Text is what the user typed.
	Text string
	// Words are its distinct normalised words, at most 32, in order.
	Words []string
	// Expanded is what the master makes of the text once for all slaves: for
	// layouts that are the product's own. NewQuery makes it.
	Expanded *search.Query
}

// Found is the answer to a query. What a layout does not report is 0 (Provides).
type Found struct {
	// Matches is the number of keywords that match.
	Matches uint64
	// Sum is the sum of their ids, to check that they are the same ones.
	Sum uint64
	// Best are the ids of the best keyword of each of the best advertisers, best first, as the
	// auction ranks them (serving.md §5); valid until the next search.
	Best []uint64
}

// Provides says what of Found a layout fills in.
type Provides struct{ Matches, Sum, Best bool }

// Size is what a layout takes, in bytes. Memory is what the process holds more
// than before the layout was built and searched; of a peer, its own processes.
type Size struct {
	Disk, Memory uint64
	// Matching is the part of Disk that is read to decide on matches, 0 where it
	// is not apart from the rest.
	Matching uint64
	// Raw is what the data on disk are before compression, 0 where it is not known.
	Raw uint64
}

// Options say under which conditions a layout is built.
type Options struct {
	// Dir is an empty directory of the layout's own.
	Dir string
	// CacheBytes is what it may keep in memory of what lies on disk; 0: all of it.
	CacheBytes uint64
	// Progress, if not nil, is called with the share that is built, 0 to 1.
	Progress func(done float64)
}

// Layout is one way in which keywords can lie.
type Layout interface {
	// Name is what tables call it.
	Name() string
	// Provides says what its answers hold.
	Provides() Provides
	// Build puts the keywords there and opens them for searches. An error of kind
	// fault.Unavailable: what it needs is not on this machine; its text says what.
	Build(ctx context.Context, set *Set, o Options) (Store, error)
}

// Store is a layout with keywords in it.
type Store interface {
	// Searcher returns one for the use of one goroutine at a time; several may be
	// used at once. All must be closed before the store.
	Searcher() (Searcher, error)
	Size() (Size, error)
	Close() error
}

// Searcher finds the keywords that match.
type Searcher interface {
	// Search may keep nothing of q.
	Search(ctx context.Context, q *Query) (Found, error)
	Close() error
}

// Changer is a store whose keywords may change while it is searched.
type Changer interface {
	Store
	// Change replaces the words of keywords by those of other keywords of the set:
	// from now on keyword to[i].Keyword (its index) has the words of keyword
	// to[i].Like. It returns when searches see all of them.
	Change(ctx context.Context, to []Change) error
}

// Change gives a keyword the words that another one has in the set, before any changes.
type Change struct{ Keyword, Like int }
