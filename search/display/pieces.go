package display

// Pieces hold what an answer shows of a hit. All answers with the hit share them, so they must not
// be changed.
type Pieces struct {
	// Keyword is a JSON string, the keyword's text.
	Keyword []byte
	// Group is a JSON array of what all keywords of the ad group share.
	Group []byte
}

// New encodes what an answer shows of a keyword.
func New(advertiser, campaign, group, keyword string, ad *Ad) Pieces {
	return Pieces{
		Keyword: AppendString(nil, keyword),
		Group:   AppendAd(AppendNames(nil, advertiser, campaign, group), ad),
	}
}
