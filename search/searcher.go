package search

import (
	"context"
	"math/bits"
)

// Searcher answers a request from the groups it serves. A store, the client of
// a slave and the master's fan-out all implement it.
type Searcher interface {
	// Search returns the best hits of distinct advertisers. An answer that
	// does not cover all that the searcher should serve is no error: its Width
	// says so. Errors: fault.Deadline and fault.Cancelled by ctx,
	// fault.Unavailable, fault.Overloaded, fault.Stale when Request.View is no
	// longer served, fault.Conflict when Request.Shard is another.
	Search(ctx context.Context, r *Request) (*Answer, error)
}

// Explainer says of each matching keyword what became of it.
type Explainer interface {
	// Explain returns the matching keywords, also those that are not eligible,
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
	Work         Work
	// Missing are the shards that did not answer, or did not serve all of their
	// part; not empty when Width is less than the ring. Empty below the fan-out.
	Missing []Missing
	// Lacking is why a slave serves less than its map gives it; "": it serves all
	// of that. Empty above the fan-out.
	Lacking string
	// Shards and Answered count the shards asked, and those that answered; 1 and
	// 1 below the fan-out.
	Shards, Answered int
}

// Work is what an answer cost, for metrics and load.
type Work struct {
	Looked       uint64 // postings decided on
	BlocksRead   uint64
	BlocksPassed uint64 // skipped, since none of theirs could win
	BlocksBad    uint64 // checksum or structure wrong; Width leaves their ring out
}

// Add adds w to the sum.
func (s *Work) Add(w Work) {
	s.Looked += w.Looked
	s.BlocksRead += w.BlocksRead
	s.BlocksPassed += w.BlocksPassed
	s.BlocksBad += w.BlocksBad
}

// Hit is a candidate: a keyword that matches and takes part in the auction.
type Hit struct {
	Keyword, Group, Campaign, Advertiser uint64 // ids
	// Score is R and Quality is Q of serving.md §4; the bid that took part is
	// B = Score ÷ Quality.
	Score, Quality uint64
	Type           MatchType
	Level          Level

	*Shown
}

// Shown is what an answer shows of a hit; never nil in answers. It is shared by
// all answers with the hit and not to be changed.
type Shown struct {
	AdvertiserName, CampaignName, GroupName, KeywordText string
	Ad                                                   Ad
}

// Ad is what is shown.
type Ad struct {
	ID                      uint64
	Headlines, Descriptions []string
	Path1, Path2, FinalURL  string
}

// Width is a part of the ring, 0 to 2⁶⁴ inclusive, as a 128-bit number: the
// whole ring does not fit 64 bits.
type Width struct{ Hi, Lo uint64 }

// WholeRing is the width of the whole ring, 2⁶⁴.
func WholeRing() Width { return Width{Hi: 1} }

// IntervalWidth is the width of the keys lo to hi, both inclusive, lo ≤ hi.
func IntervalWidth(lo, hi uint64) Width {
	return Width{Lo: hi - lo}.Add(Width{Lo: 1})
}

// Add returns w + v.
func (w Width) Add(v Width) Width {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	hi, _ := bits.Add64(w.Hi, v.Hi, carry)
	return Width{Hi: hi, Lo: lo}
}

// Sub returns w − v; v must not be wider.
func (w Width) Sub(v Width) Width {
	lo, borrow := bits.Sub64(w.Lo, v.Lo, 0)
	hi, _ := bits.Sub64(w.Hi, v.Hi, borrow)
	return Width{Hi: hi, Lo: lo}
}

// Less reports whether w is less than v.
func (w Width) Less(v Width) bool { return w.Hi < v.Hi || w.Hi == v.Hi && w.Lo < v.Lo }

// Verdict is what became of a matching keyword.
type Verdict uint8

// The verdicts. All from Blocked on are reasons why a keyword that matches is
// no candidate; a keyword has the first that holds, in this order of checks:
// status, ad, budget, bid, device, reserve, negative.
const (
	Eligible          Verdict = iota // a candidate; the auction is still to come
	Won                              // shown
	Lost                             // a candidate without a place
	Superseded                       // another keyword of its advertiser is better
	KeywordPaused                    // the keyword's own status
	GroupPaused                      //
	CampaignPaused                   //
	AdvertiserPaused                 //
	NoAd                             // the group has no enabled ad
	BudgetExhausted                  // the campaign's budget is marked as exhausted
	NoBid                            // neither the keyword nor its group has a bid
	DeviceOff                        // −100 % on this device
	BelowReserve                     // B = 0 or below the reserve
	BlockedByNegative                //
)

var verdictNames = [...]string{
	"eligible", "won", "lost", "superseded", "keyword_paused", "group_paused", "campaign_paused",
	"advertiser_paused", "no_ad", "budget_exhausted", "no_bid", "device_off", "below_reserve",
	"blocked_by_negative",
}

// String returns the verdict's name in answers.
func (v Verdict) String() string { return verdictNames[v] }

// Explanation lists what became of the matching keywords.
type Explanation struct {
	Matches []Explained
	// Total is the number of matching keywords, eligible or not.
	Total        uint64
	Width        Width
	View         uint64
	Shard        ShardID // who explains; 0 above a shard
	AppliedClock uint64
	Missing      []Missing // as in Answer
}

// Explained is one matching keyword and its fate.
type Explained struct {
	Hit     // Score and Quality are set where they could be computed; Ad may be empty
	Verdict Verdict
	// Words: which words agreed how, in the keyword's order.
	Words []Agreement
	// Bid and Modifier went into the effective bid: micros and permille;
	// BidFromGroup: the group's default. Effective is B of serving.md §4.
	Bid, Modifier, Effective uint64
	BidFromGroup             bool
	// Negative is the text of the negative that blocks, with its match type
	// and owner ("group" or "campaign"); empty otherwise.
	Negative, NegativeOwner string
	NegativeType            MatchType
	// Shard and Slice tell where the keyword lies.
	Shard string
	Slice uint64
	// Position (from 1) and Price (micros) of a winner. SetBy is the keyword
	// that set the price, 0: the reserve. LostTo is the keyword that took the
	// last place, or that supersedes.
	Position      int
	Price         uint64
	SetBy, LostTo uint64
}

// Agreement is how one word of a keyword agrees with a word of the query.
type Agreement struct {
	Keyword, Query string // normalised words
	Level          Level
}
