package backend

import (
	"context"

	"adshard/search"
)

// Worded is a Store that names the version of words that its keys were made with. When a
// program with newer words opens it, it makes its keys anew (package rekey).
type Worded interface {
	Store
	// Words returns that version, and what was removed whenever keys were made anew.
	Words(ctx context.Context) (*WordsReport, error)
	// Rekeyed returns how many keywords and negatives were removed when this handle
	// was opened.
	Rekeyed() int
}

// WordsReport says of which words the keys of a database are, and what that cost.
type WordsReport struct {
	Version string          `json:"version"`
	Removed []RemovedPhrase `json:"removed"` // by ascending id, keywords first
}

// RemovedPhrase is a keyword or negative that was removed when keys were rebuilt: it had become equal
// to another one, or was no longer a valid keyword.
type RemovedPhrase struct {
	Negative bool `json:"negative"`
	// Advertiser is that of an advertiser's negative, Campaign that of a campaign's, Group that of anything else.
	Advertiser uint64           `json:"advertiser_id,omitempty"`
	Campaign   uint64           `json:"campaign_id,omitempty"`
	Group      uint64           `json:"group_id,omitempty"`
	ID         uint64           `json:"id"`
	Type       search.MatchType `json:"match_type"`
	Text       string           `json:"text"`
	Enabled    bool             `json:"enabled"`
	HasBid     bool             `json:"has_bid"`
	Bid        uint64           `json:"bid_micros,omitempty"` // own, of a keyword
	Quality    uint8            `json:"quality,omitempty"`    // of a keyword
	// Kept is the id of the keyword that it has become one with, or 0 if there is none;
	// Why then says why it is no longer a keyword.
	Kept uint64 `json:"kept,omitempty"`
	Why  string `json:"why,omitempty"`
}
