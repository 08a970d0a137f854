package layouts

import (
	"context"

	"adshard/search"
)

// Query is a query prepared for all layouts.
type Query struct {
	// Text is what the user typed.
	Text string
	// Words holds its distinct normalised words, at most 32, in order.
	Words []string
	// Expanded is what the master makes of the text once for all slaves, for the product's own
	// layouts. NewQuery sets it.
	Expanded *search.Query
}

// Found is the answer to a query. Fields that a layout does not report are 0 (Provides).
type Found struct {
	// Matches is the number of matching keywords.
	Matches uint64
	// Sum is the sum of their ids, to check that they are the right ones.
	Sum uint64
	// Best holds the id of the best keyword of each of the best advertisers, best first, as
	// the auction ranks them (serving.md §5). It is valid until the next search.
	Best []uint64
}

// Provides says which fields of Found a layout sets.
type Provides struct{ Matches, Sum, Best bool }

// Size is the size of a layout in bytes. Memory is how much more memory the process holds
// than before the layout was built and searched; for a peer, it is the memory of its own
// processes.
type Size struct {
	Disk, Memory uint64
	// Matching is the part of Disk that is read to decide on matches; 0 if it is not separate
	// from the rest.
	Matching uint64
	// Raw is the size of the data on disk before compression; 0 if it is not known.
	Raw uint64
}

// Options says under which conditions a layout is built.
type Options struct {
	// Dir is an empty directory for the layout.
	Dir string
	// CacheBytes is how much of what lies on disk the layout may keep in memory; 0: all of it.
	CacheBytes uint64
	// Progress, if not nil, is called with the share that is built, 0 to 1.
	Progress func(done float64)
}

// Layout is one way to store keywords.
type Layout interface {
	// Name returns the layout's name in tables.
	Name() string
	// Provides returns which fields of its answers are set.
	Provides() Provides
	// Build stores the keywords and opens the store for searches. It returns fault.Unavailable
	// if something that it needs is not on this machine; the text says what.
	Build(ctx context.Context, set *Set, o Options) (Store, error)
}

// Store is a layout with keywords in it.
type Store interface {
	// Searcher returns a searcher for one goroutine at a time. Several searchers may be used
	// at once. All must be closed before the store.
	Searcher() (Searcher, error)
	Size() (Size, error)
	Close() error
}

// Searcher finds the keywords that match.
type Searcher interface {
	// Search must not keep any part of q.
	Search(ctx context.Context, q *Query) (Found, error)
	Close() error
}

// Changer is a store whose keywords can be changed while it is searched.
type Changer interface {
	Store
	// Change replaces the words of keywords by those of other keywords of the set: from now
	// on, the keyword with index to[i].Keyword has the words of keyword to[i].Like. Change
	// returns when searches see all changes.
	Change(ctx context.Context, to []Change) error
}

// Change gives a keyword the words that another keyword originally has in the set.
type Change struct{ Keyword, Like int }
