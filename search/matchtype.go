package search

import "fmt"

// MatchType is how a keyword is to be matched. What each type means is set by a Rule of the
// request's Profile.
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
