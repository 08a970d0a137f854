package search

import "fmt"

// Level says how well a keyword's word agrees with a query's word
// (serving.md §2); lower is better.
type Level uint8

// The levels, best first. NoLevel means that the words do not agree.
const (
	Identical Level = iota // same normalised word
	Folded                 // same folded form
	Inflected              // same stem of the folded form in one language
	Synonym                // a pair in the thesaurus of one language
	Misspelt               // the query's word is no keyword's, and the keyword's is a correction of it
	NoLevel
)

// Levels is the number of levels at which words agree.
const Levels = int(NoLevel)

var levelNames = [...]string{"identical", "folded", "inflected", "synonym", "misspelt", "none"}

// Permille returns the variant factor of serving.md §2, or 0 for NoLevel.
func (l Level) Permille() uint64 {
	return [...]uint64{1000, 950, 900, 800, 700, 0}[l]
}

// String returns the level's name in requests and answers.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel reads the name of a level other than "none".
func ParseLevel(s string) (Level, bool) {
	for i, n := range levelNames[:Levels] {
		if n == s {
			return Level(i), true
		}
	}
	return NoLevel, false
}
