package search

import "fmt"

// Level says how well a keyword's word agrees with a query's word
// (serving.md §2); lower is better.
type Level uint8

// The levels, best first. NoLevel means that the words do not agree.
const (
	Identical Level = iota // same normalised word
	Folded                 // same folded form
	Inflected              // same stem of the folded form, under one language
	Synonym                // a pair in the thesaurus of one language
	NoLevel
)

// Levels is the number of levels at which words can agree.
const Levels = int(NoLevel)

var levelNames = [...]string{"identical", "folded", "inflected", "synonym", "none"}

// Permille returns the variant factor of serving.md §2; 0 for NoLevel.
func (l Level) Permille() uint64 {
	return [...]uint64{1000, 950, 900, 800, 0}[l]
}

// String returns the level's name in requests and answers.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel reads a level's name, "none" excluded.
func ParseLevel(s string) (Level, bool) {
	for i, n := range levelNames[:Levels] {
		if n == s {
			return Level(i), true
		}
	}
	return NoLevel, false
}

// MatchType is how a keyword wants to be matched. What each type means is a
// Rule of the request's Profile.
type MatchType uint8

// The match types.
const (
	Exact MatchType = iota
	Phrase
	Broad
)

// MatchTypes is the number of match types.
const MatchTypes = 3

var matchTypeNames = [...]string{"exact", "phrase", "broad"}

// Permille returns the match factor of serving.md §4.
func (m MatchType) Permille() uint64 { return [...]uint64{1000, 900, 800}[m] }

// String returns the type's name in answers.
func (m MatchType) String() string {
	if int(m) < len(matchTypeNames) {
		return matchTypeNames[m]
	}
	return fmt.Sprintf("matchtype(%d)", uint8(m))
}

// Device is what the user searches on; it selects a bid modifier.
type Device uint8

// The devices.
const (
	Desktop Device = iota
	Mobile
	Tablet
)

// Devices is the number of devices.
const Devices = 3

var deviceNames = [...]string{"desktop", "mobile", "tablet"}

// String returns the device's name in requests.
func (d Device) String() string {
	if int(d) < len(deviceNames) {
		return deviceNames[d]
	}
	return fmt.Sprintf("device(%d)", uint8(d))
}

// ParseDevice reads a device's name.
func ParseDevice(s string) (Device, bool) {
	for i, n := range deviceNames {
		if n == s {
			return Device(i), true
		}
	}
	return 0, false
}
