package search

import "adshard/search/display"

// Hit is a candidate: a keyword that matches and takes part in the auction.
type Hit struct {
	Keyword, Group, Campaign, Advertiser uint64 // ids
	// Score is R and Quality is Q of serving.md §4. The bid that took part is B = Score ÷ Quality.
	Score, Quality uint64
	Type           MatchType
	Level          Level
	// Filters says in which filters of a page the hit is among the best: bit i stands for filter i.
	Filters uint8
	// Ad is the id of the displayed ad, and Display is what answers show of the hit. Neither is set
	// in explanations.
	Ad      uint64
	Display display.Pieces
}
