package search

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
