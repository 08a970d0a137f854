package backend

import (
	"context"

	"adshard/search"
)

// Worded is a Store that names the version of words with which its keys were made. When a program with newer words
// opens it, the keys are rebuilt (package rekey).
type Worded interface {
	Store
	// Words returns that version, and the phrases that were removed whenever keys were rebuilt.
	Words(ctx context.Context) (*WordsReport, error)
	// Rekeyed returns how many keywords and negatives were removed when this handle
	// was opened.
	Rekeyed() int
}

// WordsReport says which version of words made the keys of a database, and which phrases were removed for it.
type WordsReport struct {
	Version string          `json:"version"`
	Removed []RemovedPhrase `json:"removed"` // by ascending id, keywords first
}

// RemovedPhrase is a keyword or negative that was removed when keys were rebuilt: it had become equal to another one,
// or was no longer a valid keyword.
type RemovedPhrase struct {
	Negative bool `json:"negative"`
	// Advertiser is set for an advertiser's negative, Campaign for a campaign's negative, and Group for all others.
	Advertiser uint64           `json:"advertiser_id,omitempty"`
	Campaign   uint64           `json:"campaign_id,omitempty"`
	Group      uint64           `json:"group_id,omitempty"`
	ID         uint64           `json:"id"`
	Type       search.MatchType `json:"match_type"`
	Text       string           `json:"text"`
	Enabled    bool             `json:"enabled"`
	HasBid     bool             `json:"has_bid"`
	Bid        uint64           `json:"bid_micros,omitempty"` // a keyword's own bid
	Quality    uint8            `json:"quality,omitempty"`    // of a keyword
	// Kept is the id of the equal keyword that was kept, or 0 if there is none. Then Why says why the phrase is no
	// longer a keyword.
	Kept uint64 `json:"kept,omitempty"`
	Why  string `json:"why,omitempty"`
}
