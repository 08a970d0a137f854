package search

import "adshard/targeting"

// Verdict is what became of a keyword in a search.
type Verdict uint8

// The verdicts. All from KeywordPaused on are reasons why a matching keyword is not a candidate. A keyword gets the first that
// applies, in this order: status, ad, budget, throttling, targeting, words, bid, device, reserve, negative. They travel by
// their numbers: a new one comes last.
const (
	Eligible          Verdict = iota // a candidate; the auction is still to come
	Won                              // shown
	Lost                             // a candidate without a place
	Superseded                       // another keyword of the same advertiser is better
	KeywordPaused                    // the keyword's own status
	GroupPaused                      //
	CampaignPaused                   //
	AdvertiserPaused                 //
	NoAd                             // the group has no enabled ad
	BudgetExhausted                  // the campaign's budget is marked as exhausted, or 0
	NoBid                            // neither the keyword nor its group has a bid
	DeviceOff                        // −100 % on this device
	BelowReserve                     // B = 0 or below the reserve
	BlockedByNegative                //
	Throttled                        // the campaign takes no part in this request (serving.md §10)
	Unmatched                        // it does not match the words; only of requested keywords

	// Verdicts of targeting and blocks (serving.md §12), checked after Throttled and before NoBid.
	NotStarted
	Ended
	OffSchedule
	LocationExcluded
	LocationUnknown
	LocationMissed
	LanguageMissed
	AudienceExcluded
	AudienceMissed
	SiteExcluded
	SiteMissed
	Blocked // by an owner, a category or a domain

	ScoredOut // the scorer leaves nothing of its quality (serving.md §16); checked last

	// Verdicts is the number of verdicts.
	Verdicts = int(ScoredOut) + 1
)

// Targeted returns the verdict of targeting on a keyword, or Eligible if the keyword passes.
func Targeted(v targeting.Verdict) Verdict {
	if v == targeting.Pass {
		return Eligible
	}
	return NotStarted + Verdict(v-targeting.NotStarted)
}

// Matched reports whether a keyword with this verdict counts as matching (serving.md §8).
func (v Verdict) Matched() bool {
	switch v {
	case KeywordPaused, GroupPaused, CampaignPaused, AdvertiserPaused, NoAd, Unmatched:
		return false
	}
	return true
}

// OfTargeting reports whether a verdict is one of targeting or blocks.
func (v Verdict) OfTargeting() bool { return v >= NotStarted && v <= Blocked }

var verdictNames = [...]string{
	"eligible", "won", "lost", "superseded", "keyword_paused", "group_paused", "campaign_paused",
	"advertiser_paused", "no_ad", "budget_exhausted", "no_bid", "device_off", "below_reserve",
	"blocked_by_negative", "throttled", "unmatched",
	"not_started", "ended", "off_schedule", "location_excluded", "location_unknown", "location_missed", "language_missed",
	"audience_excluded", "audience_missed", "site_excluded", "site_missed", "blocked",
	"scored_out",
}

// String returns the verdict's name in answers.
func (v Verdict) String() string { return verdictNames[v] }

// Explanation lists the verdicts of the matching keywords or, if the request names keywords, of those.
type Explanation struct {
	Matches []Explained
	// Total is the number of keywords explained, eligible or not, whatever the limit.
	Total uint64
	// Counts are the numbers of these keywords by verdict if the limit was 0. Only the fan-out counts Won, Lost and Superseded;
	// a store does not.
	Counts       [Verdicts]uint64
	Width        Width
	View         uint64
	Shard        ShardID  // the shard that explains; 0 above a shard
	Scorer       ScorerID // as in Answer
	AppliedClock uint64
	Missing      []Missing // as in Answer
}

// Explained is one keyword and its verdict.
type Explained struct {
	Hit     // Score and Quality are set if they could be computed; Level is NoLevel if the keyword does not match
	Verdict Verdict
	// The names of the keyword's owners, and its text.
	AdvertiserName, CampaignName, GroupName, KeywordText string
	// Words says how each of the keyword's words agreed, in the keyword's order.
	Words []Agreement
	// Mismatch is why the keyword does not match, whatever its verdict. MismatchWords are the words responsible.
	Mismatch      Mismatch
	MismatchWords []string
	// The effective bid is made from Bid (micros) and Modifier (permille). BidFromGroup means that Bid is the group's default.
	// Effective is B of serving.md §4.
	Bid, Modifier, Effective uint64
	BidFromGroup             bool
	// Device is the first factor of Modifier, or nil if it changes nothing. Clamped says that the product of all factors exceeds the
	// largest modifier.
	Device  *DeviceFactor
	Clamped bool
	// Scored is what the request's scorer makes of the keyword's quality, or nil if there is no scorer or the keyword does not
	// match.
	Scored *Scored
	// Context is the outcome of targeting: what decided, and the factors of Modifier other than that of the device. It is nil
	// if targeting says nothing.
	Context *targeting.Outcome
	// Negative is the text of the negative that blocks, with its match type
	// and owner ("group", "campaign" or "advertiser"); empty otherwise.
	Negative, NegativeOwner string
	NegativeType            MatchType
	// Withheld is the number of requests in a million in which the campaign takes no part.
	Withheld uint32
	// Held is the backend.Hold that stops the ad group or campaign named by the verdict whatever its status, or 0 if none does.
	Held uint32
	// Defaults are the texts of its ad, as displayed, that contain a placeholder's default
	// (serving.md §5.5).
	Defaults []string
	// Points is the keyword's quality, 1 to 10. If it was learned, Learned is its source (a backend.Learned), and Given is the
	// quality that it replaces. Otherwise Given is 0.
	Points, Given uint8
	Learned       uint64
	// Shard and Slice are where the keyword is stored.
	Shard string
	Slice uint64
	// Position (from 1) and Price (micros) are those of a winner. SetBy is the keyword that set the price; 0 means the reserve.
	// LostTo is the keyword that took the last place, or that supersedes this one.
	Position      int
	Price         uint64
	SetBy, LostTo uint64
	// ToWin is the lowest bid, in micros, with which a lost or superseded keyword would have won a place. It is 0 if no bid
	// would do or the verdict is another.
	ToWin uint64
}

// DeviceFactor is the modifier of the request's device.
type DeviceFactor struct {
	Permille uint64
	OfGroup  bool // it is the group's, not the campaign's
}

// Scored is what a scorer makes of a keyword's quality: its factor in permille, and the parts of the sum from which the factor
// is computed.
type Scored struct {
	Factor uint64
	Parts  []ScoredPart
}

// ScoredPart is what one feature adds to the sum.
type ScoredPart struct {
	Feature string
	Value   string // "" if the part belongs to no feature, or to several
	Weight  int64
}

// Agreement is how one word of a keyword agrees with a word of the query.
type Agreement struct {
	Keyword, Query string // normalised words; Query is "" at NoLevel
	Level          Level
}
