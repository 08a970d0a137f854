package search

import (
	"context"
	"time"

	"adshard/targeting"
)

// Searcher answers a request from the groups it serves. A store, the client of
// a slave and the master's fan-out all implement it.
type Searcher interface {
	// Search returns the best hits of distinct advertisers. An incomplete answer is not an error: its Width says how much it covers.
	// Errors: fault.Deadline and fault.Cancelled from ctx, fault.Unavailable, fault.Overloaded, fault.Stale if Request.View is no longer
	// served, fault.Conflict if Request.Shard is another shard, fault.Behind if the data do not reach Request.Least in time.
	Search(ctx context.Context, r *Request) (*Answer, error)
}

// Explainer returns the verdict of each matching keyword, or of each keyword that Request.Wanted names.
type Explainer interface {
	// Explain returns the first `limit` matching keywords, eligible or not, by score descending, then keyword id ascending. With
	// Request.Wanted it returns the named keywords, matching or not. With a limit of 0 it counts the verdicts. Verdicts of a store are
	// local: a keyword that passed all its checks is Eligible; only the auction over the whole ring knows which one won.
	Explain(ctx context.Context, r *Request, limit int) (*Explanation, error)
}

// Request is what a searcher gets.
type Request struct {
	Query   *Query
	Profile Profile // already capped at the request's variants
	Device  Device
	// Context is what the request says of its user and page, or nil if nothing is known, not even the time. Without it a searcher whose
	// data have targeting returns fault.Version.
	Context *targeting.Context
	// Slots is the number of places, 1 to 20. A searcher returns Slots+1 hits, since the price of the last place depends on the hit after
	// it.
	Slots int
	// Reserve is the lowest bid that takes part, in micros.
	Reserve uint64
	// Scorer is the scorer of candidates (serving.md §16), if any. A searcher that does not have it returns fault.Version, and so does one
	// that gets a scorer without a Context.
	Scorer ScorerID
	// Page requests the hits of several placements, or is nil. Explanations ignore it.
	Page *Page
	// ExactCounts requests exact values of Matched and Candidates.
	ExactCounts bool
	// Strict means that an incomplete answer is useless. If a fan-out knows that its answer cannot be complete, it may return an
	// incomplete one at once without asking any shard.
	Strict bool
	// RequestID decides which ad an evenly rotating group shows.
	RequestID string
	// View is the caller's view of the slice map; 0 means the searcher's
	// newest.
	View uint64
	// Shard is the shard that the request is for; another shard returns fault.Conflict.
	Shard ShardID
	Tags
	// Wanted names keywords to explain, whether they match or not; searches ignore it.
	Wanted Wanted
	// Timing records how long the parts of the request take, or is nil. It is not passed on to the searchers that this one asks.
	Timing *Timing
	// Came is when the request reached this process. Zero means now.
	Came time.Time
}

// Tags are the parts of a request other than what is searched for: caller, priority, and how new the data must be.
type Tags struct {
	// Low requests are refused first under overload.
	Low bool
	// Tenant is the caller for whom the search is made; "" means unknown.
	Tenant string
	// Least is the position up to which the answer must hold all changes. Clock 0 means that any position will do.
	Least Position
	// Hedge means that another replica, whose load counts, was asked first.
	Hedge bool
	// Trace is a trace context in 25 bytes (docs/stream.md), or "" if the request is not traced.
	Trace string
}

// Answer is what a searcher found.
type Answer struct {
	// Hits are the best Slots+1 candidates, one per advertiser, by Score descending, then Keyword ascending. With a page they are the best
	// of each of its filters (Request.Kept); a keyword appears once for each ad that it shows in any of them.
	Hits []Hit
	// Filtered are the numbers of candidates of each filter of a page, counted like Candidates. Candidates counts those of any filter.
	Filtered []uint64
	// Matched and Candidates are the totals of serving.md §8, with each keyword counted once. They are lower bounds unless CountsExact.
	Matched, Candidates uint64
	CountsExact         bool
	// Scorer is the request's scorer, with which the hits were scored. It is not set above the fan-out.
	Scorer ScorerID
	// Width is how much of the ring was served.
	Width Width
	// View is the view that was served, and Shard is the shard that served it, or 0 above a shard.
	View  uint64
	Shard ShardID
	// AppliedClock is a clock of the feed. Every group is at least that new.
	AppliedClock uint64
	// Lag is how long the data have lacked the newest changes.
	Lag  time.Duration
	Work Work
	// Missing are the shards that did not answer or did not serve all of their part. It is not empty if Width is less than the ring. It is
	// empty below the fan-out.
	Missing []Missing
	// WhyIncomplete is why a slave serves less than its map assigns to it, or "" if it serves all of it. It is empty above the fan-out.
	WhyIncomplete string
	// Shards and Answered are the numbers of shards that were asked and that answered. Both are 1 below the fan-out.
	Shards, Answered int
}

// Work is the cost of an answer, for metrics and load.
type Work struct {
	Examined      uint64 // postings examined
	BlocksRead    uint64
	BlocksSkipped uint64 // blocks in which no posting can match or win
	BlocksBad     uint64 // blocks with a wrong checksum or structure; Width excludes their part of the ring
}

// Add adds w to the sum.
func (s *Work) Add(w Work) {
	s.Examined += w.Examined
	s.BlocksRead += w.BlocksRead
	s.BlocksSkipped += w.BlocksSkipped
	s.BlocksBad += w.BlocksBad
}
