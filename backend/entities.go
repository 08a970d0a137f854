package backend

import "adshard/search"

// Advertiser is the root of an account's data; its natural key is the name.
type Advertiser struct {
	ID   uint64
	Name string
	AdvertiserSettings
	Negatives []Negative // in ascending id order; filled by Snapshot reads
	Version   uint64     // clock of the last change of the advertiser or its negatives
}

// Modifier is a bid modifier in permille, 0 (−100 %) to 10000 (+900 %).
type Modifier struct {
	Set      bool
	Permille uint16
}

// Campaign holds groups; its natural key is the name within the advertiser.
type Campaign struct {
	ID, AdvertiserID uint64
	Name             string
	CampaignSettings
	BudgetExhausted bool // the mark only; see the method Exhausted
	// Withheld is the number of requests in a million in which the campaign does not take part (serving.md §10).
	Withheld  uint32
	Negatives []Negative // in ascending id order; filled by Snapshot reads
	Version   uint64
}

// Exhausted reports whether no ad of the campaign is shown because its budget is used up (serving.md §4): the campaign is
// marked, or its daily budget is 0.
func (c *Campaign) Exhausted() bool { return c.BudgetExhausted || c.HasBudget && c.DailyBudget == 0 }

// Group is an ad group; its natural key is the name within the campaign.
type Group struct {
	ID, CampaignID, AdvertiserID uint64
	Name                         string
	GroupSettings
	Version uint64 // of the group and everything in it
}

// Keyword is a positive keyword. Its natural key within the group is the sequence of its normalised words and its
// match type.
type Keyword struct {
	ID, GroupID uint64
	Text        string // as given, without outer quotes or brackets
	Words       string // the normalised words, joined by one space
	Type        search.MatchType
	KeywordSettings
}

// Negative is a negative keyword of a group (GroupID is set), of a campaign (of these three ids only CampaignID is
// set) or of an advertiser (AdvertiserID is set).
type Negative struct {
	ID, AdvertiserID, CampaignID, GroupID uint64
	Text, Words                           string
	Type                                  search.MatchType
	Enabled                               bool
}

// Ad is an ad of a group; its natural key is all of its content.
type Ad struct {
	ID, GroupID             uint64
	Enabled                 bool
	Headlines, Descriptions []string
	Path1, Path2, FinalURL  string
}

// Item is a group with its content. Balancing, moving and serving handle groups as items.
type Item struct {
	Group     Group
	Keywords  []Keyword  // in ascending id order
	Negatives []Negative // the group's own, in ascending id order
	Ads       []Ad       // in ascending id order
}

// DefaultQuality is the quality of a keyword for which none is given.
const DefaultQuality = 5
