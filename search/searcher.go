package search

import (
	"context"
	"time"
)

// Searcher answers a request from the groups it serves. A store, the client of
// a slave and the master's fan-out all implement it.
type Searcher interface {
	// Search returns the best hits of distinct advertisers. An answer that
	// does not cover all that the searcher should serve is no error: its Width
	// says so. Errors: fault.Deadline and fault.Cancelled by ctx,
	// fault.Unavailable, fault.Overloaded, fault.Stale when Request.View is no
	// longer served, fault.Conflict when Request.Shard is another,
	// fault.Behind when Request.Least is not reached in time.
	Search(ctx context.Context, r *Request) (*Answer, error)
}

// Explainer says of each matching keyword what became of it, or of each that Request.Wanted names.
type Explainer interface {
	// Explain returns the matching keywords, also those that are not eligible,
	// or with Request.Wanted those that it names, also those that do not match,
	// by falling score, then rising keyword id: the first Limit of them.
	// Verdicts of a store are local: what passed everything is Eligible; only
	// the whole ring's auction knows who won.
	Explain(ctx context.Context, r *Request, limit int) (*Explanation, error)
}

// Request is what a searcher is asked.
type Request struct {
	Query   *Query
	Profile Profile // already capped at the request's variants
	Device  Device
	// Slots is the number of places, 1 to 20; a searcher answers with Slots+1
	// hits, since the price of the last place comes from the next.
	Slots int
	// Reserve is the least bid that takes part, in micros.
	Reserve uint64
	// ExactCounts asks for exact Matched and Candidates.
	ExactCounts bool
	// Strict: an incomplete answer is of no use. A fan-out may give one at once,
	// without asking any shard, when it knows that it cannot be complete.
	Strict bool
	// RequestID decides which ad an evenly rotating group shows.
	RequestID string
	// View is the state of the slice map that the asker has; 0: the searcher's
	// newest.
	View uint64
	// Shard is who is asked; another one refuses with fault.Conflict.
	Shard ShardID
	Tags
	// Wanted names keywords to explain, whether they match or not; searches leave it alone.
	Wanted Wanted
	// Timing takes how long the parts of the request take; nil: nobody asks. It is of
	// this searcher alone: those that it asks do not get it.
	Timing *Timing
	// Came is when the request reached this process; zero: now.
	Came time.Time
}

// Tags are what a request carries beside what is looked for: who asks, how urgent it is
// and how new the data must be.
type Tags struct {
	// Low: it is refused first where there is much to do.
	Low bool
	// Tenant is who the search is for; "": unknown.
	Tenant string
	// Least: the answer must hold all changes up to it; clock 0: any will do.
	Least Position
	// Hedge: another replica was asked first, whose load counts.
	Hedge bool
	// Trace is a trace context in 25 bytes (docs/stream.md); "": it is not traced.
	Trace string
}

// Answer is what a searcher found.
type Answer struct {
	// Hits are the best Slots+1 candidates after one per advertiser, by Score
	// falling, then Keyword rising.
	Hits []Hit
	// Matched and Candidates are the totals of serving.md §8, each keyword
	// counted once; lower bounds unless CountsExact.
	Matched, Candidates uint64
	CountsExact         bool
	// Width is how much of the ring was served.
	Width Width
	// View is the view that was served, and Shard who served it; 0 above a shard.
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
	// WhyIncomplete is why a slave serves less than its map gives it; "": it serves all
	// of that. Empty above the fan-out.
	WhyIncomplete string
	// Shards and Answered count the shards asked, and those that answered; 1 and
	// 1 below the fan-out.
	Shards, Answered int
}

// Work is what an answer cost, for metrics and load.
type Work struct {
	Examined      uint64 // postings examined
	BlocksRead    uint64
	BlocksSkipped uint64 // none of their postings can match, or none could win
	BlocksBad     uint64 // checksum or structure wrong; Width leaves their ring out
}

// Add adds w to the sum.
func (s *Work) Add(w Work) {
	s.Examined += w.Examined
	s.BlocksRead += w.BlocksRead
	s.BlocksSkipped += w.BlocksSkipped
	s.BlocksBad += w.BlocksBad
}
