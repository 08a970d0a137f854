package store

import (
	"time"

	"adshard/events/token"
	"adshard/fault"
)

// ErasePart is a kind of row that Erase removes.
type ErasePart uint8

// The parts, in order: an event that is folded meanwhile is found among the counts.
const (
	EraseEvents ErasePart = iota
	EraseCounts
	Erased
)

// Erasure is the removal of what is known of an advertiser. It is done in steps, so that others
// do not wait; one that was interrupted is begun anew.
type Erasure struct {
	Advertiser uint64
	// Before: tokens served before this second are erased.
	Before time.Time
	// Campaigns are the advertiser's: they have counts from before these were kept by
	// advertiser.
	Campaigns []uint64

	// Part is what the next step removes, Seen the last event visited.
	Part ErasePart
	Seen token.ID
}

// Validate returns what is wrong with an erasure, as fault.Invalid. Stores call it.
func (e *Erasure) Validate() error {
	if e.Advertiser == 0 || e.Advertiser > maxID {
		return fault.Newf(fault.Invalid, "events: erase", "there is no advertiser %d", e.Advertiser)
	}
	return nil
}

// Step is what a step of an erasure did.
type Step struct {
	Events int // number of events removed
	Counts int // number of rows of counts removed
}
