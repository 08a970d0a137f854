package search

import (
	"context"
	"time"

	"adshard/targeting"
)

// Searcher answers a request from the groups it serves. A store, the client of
// a slave and the master's fan-out all implement it.
type Searcher interface {
	// Search returns the best hits of distinct advertisers. An incomplete answer is not an error:
	// its Width says how much it covers. Errors: fault.Deadline and fault.Cancelled by ctx,
	// fault.Unavailable, fault.Overloaded, fault.Stale when Request.View is no longer served,
	// fault.Conflict when Request.Shard is another, fault.Behind when Request.Least is not reached
	// in time.
	Search(ctx context.Context, r *Request) (*Answer, error)
}

// Explainer explains the verdict of each matching keyword, or of each that Request.Wanted names.
type Explainer interface {
	// Explain returns the first Limit matching keywords, eligible or not, by score descending, then
	// keyword id ascending. With Request.Wanted it returns the named keywords, matching or not.
	// With a limit of 0 it counts the verdicts. Verdicts of a store are local: what passed everything is Eligible; only the auction of the
	// whole ring knows who won.
	Explain(ctx context.Context, r *Request, limit int) (*Explanation, error)
}

// Request is what a searcher is asked.
type Request struct {
	Query   *Query
	Profile Profile // already capped at the request's variants
	Device  Device
	// Context is what the request says of its user and page. nil: nothing is known, not even the time; a searcher whose
	// data have targeting refuses it with fault.Version.
	Context *targeting.Context
	// Slots is the number of places, 1 to 20; a searcher answers with Slots+1
	// hits, since the price of the last place comes from the next.
	Slots int
	// Reserve is the least bid that takes part, in micros.
	Reserve uint64
	// Scorer is the scorer of candidates (serving.md §16), or none. A searcher that lacks it refuses with fault.Version, and so does one
	// if there is no Context.
	Scorer ScorerID
	// Page asks for the hits of several placements, or is nil. Explanations ignore it.
	Page *Page
	// ExactCounts asks for exact Matched and Candidates.
	ExactCounts bool
	// Strict: an incomplete answer is useless. A fan-out may return one at once, without asking any
	// shard, when it knows that it cannot be complete.
	Strict bool
	// RequestID decides which ad an evenly rotating group shows.
	RequestID string
	// View is the caller's view of the slice map; 0 means the searcher's
	// newest.
	View uint64
	// Shard is the shard that is asked; another one refuses with fault.Conflict.
	Shard ShardID
	Tags
	// Wanted names keywords to explain, whether they match or not; searches ignore it.
	Wanted Wanted
	// Timing records how long the parts of the request take, or nil if not recorded. It is not passed
	// on to the searchers that this one asks.
	Timing *Timing
	// Came is when the request reached this process; zero means now.
	Came time.Time
}

// Tags are the parts of a request beside what is searched for: caller, priority, and how new the
// data must be.
type Tags struct {
	// Low: it is refused first under overload.
	Low bool
	// Tenant is who the search is for; "" means unknown.
	Tenant string
	// Least: the answer must hold all changes up to it; clock 0: any will do.
	Least Position
	// Hedge: another replica was asked first, whose load counts.
	Hedge bool
	// Trace is a trace context in 25 bytes (docs/stream.md), or "" if it is not
	// traced.
	Trace string
}

// Answer is what a searcher found.
type Answer struct {
	// Hits are the best Slots+1 candidates after one per advertiser, by Score
	// descending, then Keyword ascending. With a page they are the best of each of its filters (Request.Kept): a keyword
	// is there once for each ad that it shows in some of them.
	Hits []Hit
	// Filtered are the candidates of each filter of a page, counted as Candidates are, which has those of any.
	Filtered []uint64
	// Matched and Candidates are the totals of serving.md §8, each keyword
	// counted once; lower bounds unless CountsExact.
	Matched, Candidates uint64
	CountsExact         bool
	// Scorer is that of the request, by which the hits are scored; none above the fan-out.
	Scorer ScorerID
	// Width is how much of the ring was served.
	Width Width
	// View is the view that was served, and Shard the shard that served it; 0 above a shard.
	View  uint64
	Shard ShardID
	// AppliedClock: every group is at least as new as this clock of the feed.
	AppliedClock uint64
	// Lag is how long the data have been behind the newest changes.
	Lag  time.Duration
	Work Work
	// Missing are the shards that did not answer, or did not serve all of their
	// part; not empty when Width is less than the ring. Empty below the fan-out.
	Missing []Missing
	// WhyIncomplete is why a slave serves less than its map gives it, or "" if it serves all of
	// it. Empty above the fan-out.
	WhyIncomplete string
	// Shards and Answered count the shards asked, and those that answered; 1 and
	// 1 below the fan-out.
	Shards, Answered int
}

// Work is what an answer cost, for metrics and load.
type Work struct {
	Examined      uint64 // postings examined
	BlocksRead    uint64
	BlocksSkipped uint64 // blocks in which no posting can match, or none can win
	BlocksBad     uint64 // checksum or structure wrong; Width leaves their ring out
}

// Add adds w to the sum.
func (s *Work) Add(w Work) {
	s.Examined += w.Examined
	s.BlocksRead += w.BlocksRead
	s.BlocksSkipped += w.BlocksSkipped
	s.BlocksBad += w.BlocksBad
}
