package store

import (
	"time"

	"adshard/events/token"
	"adshard/fault"
)

// ErasePart is the kind of rows that a step of an erasure removes.
type ErasePart uint8

// The parts, in their order. Events come first: an event that is folded meanwhile is found
// among the counts.
const (
	EraseEvents ErasePart = iota
	EraseCounts
	Erased
)

// Erasure is the removal of all data about an advertiser. It is done in steps, so that other
// writers do not wait for long. After an interruption, it must start from the beginning.
type Erasure struct {
	Advertiser uint64
	// Before is a time in whole seconds. Events of tokens served before it are erased.
	Before time.Time
	// Campaigns are the campaigns of the advertiser. They are needed for counts from the time
	// when counts were not yet kept by advertiser.
	Campaigns []uint64

	// Part is what the next step removes, and Seen is the last event visited.
	Part ErasePart
	Seen token.ID
}

// Validate returns an error of kind fault.Invalid if an erasure is not valid. Stores call it.
func (e *Erasure) Validate() error {
	if e.Advertiser == 0 || e.Advertiser > maxID {
		return fault.Newf(fault.Invalid, "events: erase", "there is no advertiser %d", e.Advertiser)
	}
	return nil
}

// Step is the result of one step of an erasure.
type Step struct {
	Events int // number of events removed
	Counts int // number of rows of counts removed
}
