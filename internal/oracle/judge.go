package oracle

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"adshard/backend"
	"adshard/search"
)

// Judged is a matching keyword and its result in the auction.
type Judged struct {
	Keyword    *backend.Keyword
	Item       *backend.Item
	Campaign   *backend.Campaign
	Advertiser *backend.Advertiser
	Level      search.Level
	Verdict    search.Verdict
	Mismatch   search.Mismatch // of a keyword that does not match
	// Bid is in micros, if there is a bid (HasBid), and Modifier in permille. Effective is B, Quality is Q and Score
	// is R.
	Bid, Modifier, Effective, Quality, Score uint64
	HasBid                                   bool
	// Factor is f from the request's scorer, in permille, or 0 if there is no scorer.
	Factor uint64
	// Defaults are the shown texts of its ad that contain a placeholder's default.
	Defaults []string
	// Negative is the blocking negative if the verdict is BlockedByNegative.
	Negative *backend.Negative
	// Position and Price are set for a winner. SetBy is the keyword that set the price, or 0 if the reserve did.
	// LostTo is the keyword in the last place, or the one that supersedes this one.
	Position      int
	Price         uint64
	SetBy, LostTo uint64
}

// judge decides on a keyword that matches (serving.md §3 and §4). The verdict is the first that applies in the order
// of search.Verdict.
func (k *keyword) judge(level search.Level, query []*word, r *Request) *Judged {
	j := &Judged{
		Keyword: k.Keyword, Item: k.item, Campaign: k.campaign, Advertiser: k.advertiser, Level: level,
	}
	j.Bid, j.HasBid = k.Bid, k.HasBid
	if !j.HasBid {
		j.Bid, j.HasBid = k.item.Group.Bid, k.item.Group.HasBid
	}
	shown := k.modifier(j, r.Device)
	targeted, factors := k.context(r)
	if targeted == search.Eligible {
		for _, f := range factors {
			j.Modifier = j.Modifier * f / 1000
		}
		j.Modifier = min(j.Modifier, 10_000)
	}
	j.Effective = j.Bid * j.Modifier / 1000
	j.Quality = k.points() * 100_000 * matchFactor(k.Type) * variantFactor(level) / 1_000_000
	if r.Scorer != nil && level != search.NoLevel {
		j.Factor = r.Scorer.factor(k, query, r)
		j.Quality = j.Quality * j.Factor / 1000
	}
	j.Score = j.Effective * j.Quality
	j.Verdict = k.verdict(j, shown, targeted, r)
	if level != search.NoLevel && len(enabledAds(k.item)) > 0 {
		_, j.Defaults = filled(j.ad(r), k.Text)
	}
	if j.Verdict != search.Eligible {
		return j
	}
	for _, n := range k.negatives {
		if n.blocks(query) {
			j.Verdict, j.Negative = search.BlockedByNegative, n.Negative
			return j
		}
	}
	if r.Scorer != nil && level != search.NoLevel && j.Quality == 0 {
		j.Verdict = search.ScoredOut
	}
	return j
}

// points returns the learned quality, in the first four bits of Learned, or else the given quality.
func (k *keyword) points() uint64 {
	if learned := uint64(k.Learned) % 16; learned > 0 {
		return learned
	}
	return uint64(k.Quality)
}

// modifier sets the modifier: the group's if set, or else the campaign's, or else 1000. shown is false if either is
// −100 %.
func (k *keyword) modifier(j *Judged, d search.Device) (shown bool) {
	group, campaign := k.item.Group.Modifiers[d], k.campaign.Modifiers[d]
	j.Modifier = 1000
	if campaign.Set {
		j.Modifier = uint64(campaign.Permille)
	}
	if group.Set {
		j.Modifier = uint64(group.Permille)
	}
	return (!group.Set || group.Permille > 0) && (!campaign.Set || campaign.Permille > 0)
}

func (k *keyword) verdict(j *Judged, shown bool, targeted search.Verdict, r *Request) search.Verdict {
	switch {
	case !k.Enabled:
		return search.KeywordPaused
	case !k.item.Group.Enabled || k.item.Group.Hold != 0:
		return search.GroupPaused
	case !k.campaign.Enabled || k.campaign.Hold != 0:
		return search.CampaignPaused
	case !k.advertiser.Enabled:
		return search.AdvertiserPaused
	case len(enabledAds(k.item)) == 0:
		return search.NoAd
	case k.campaign.BudgetExhausted, k.campaign.HasBudget && k.campaign.DailyBudget == 0:
		return search.BudgetExhausted
	case !k.takesPart(r.RequestID):
		return search.Throttled
	case targeted != search.Eligible:
		return targeted
	case !j.HasBid:
		return search.NoBid
	case !shown:
		return search.DeviceOff
	case j.Effective == 0 || j.Effective < r.Reserve:
		return search.BelowReserve
	}
	return search.Eligible
}

// takesPart implements serving.md §10.2, with integers of any size.
func (k *keyword) takesPart(requestID string) bool {
	h := new(big.Int).SetUint64(xxhash.Sum64String(requestID + "/" + strconv.FormatUint(k.campaign.ID, 10)))
	drawn := h.Mul(h, big.NewInt(1_000_000)).Rsh(h, 64)
	return drawn.Cmp(big.NewInt(1_000_000-int64(k.campaign.Withheld))) < 0
}

func enabledAds(it *backend.Item) (ads []*backend.Ad) {
	for i := range it.Ads {
		if it.Ads[i].Enabled && isThere(&it.Ads[i]) {
			ads = append(ads, &it.Ads[i])
		}
	}
	slices.SortFunc(ads, func(a, b *backend.Ad) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return ads
}

func matchFactor(t search.MatchType) uint64 {
	switch t {
	case search.Exact:
		return 1000
	case search.Phrase:
		return 900
	}
	return 800
}

func variantFactor(l search.Level) uint64 {
	switch l {
	case search.Identical:
		return 1000
	case search.Folded:
		return 950
	case search.Inflected:
		return 900
	case search.Misspelt:
		return 700
	case search.NoLevel:
		return 0
	}
	return 800
}

// blocks implements serving.md §3.
func (n *negative) blocks(query []*word) bool {
	switch all := slices.Concat(n.words...); n.Type {
	case search.Exact:
		return len(all) == len(query) && stand(all, query)
	case search.Phrase:
		return standWithin(all, query)
	}
	for _, w := range n.words {
		if !standWithin(w, query) {
			return false
		}
	}
	return true
}

// standWithin reports whether units stand anywhere in a query, in order and next to each other.
func standWithin(units []string, query []*word) bool {
	for i := range query {
		if stand(units, query[i:]) {
			return true
		}
	}
	return false
}
