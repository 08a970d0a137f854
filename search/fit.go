package search

import "math/bits"

// MaxKeywordWords is the largest number of words that a keyword can have (serving.md §1.5). A
// posting with more words never matches.
const MaxKeywordWords = 10

// Fit is how one word of a keyword agrees with the whole query in one language. The zero Fit is not
// valid: a word that agrees with nothing has Best NoLevel.
type Fit struct {
	// At holds, for each level, the positions of the query's words (bit i: word i) with which the
	// word agrees at that level or a better one: for a run, the positions of its first unit.
	At [Levels]uint64
	// More is the number of the query's words after that one with which a run agrees, too.
	More uint8
	// Best is the best level at which the word agrees with any word of the query.
	Best Level
}

// noFit is the fit of a word that agrees with no word of the query.
var noFit = Fit{Best: NoLevel}

// add records that the word agrees with the word at position pos of the query at the given level.
func (f *Fit) add(pos uint8, level Level) {
	for l := level; l < NoLevel; l++ {
		f.At[l] |= 1 << pos
	}
	f.Best = min(f.Best, level)
}

// covered returns the positions of all words of the query with which the word agrees at the given
// level or a better one.
func (f *Fit) covered(level Level) uint64 {
	at := f.At[level]
	for range f.More {
		at |= at << 1
	}
	return at
}

// within returns the best level at which the word agrees at any of the positions, or NoLevel if it
// agrees at none.
func (f *Fit) within(positions uint64) Level {
	for l := f.Best; l < NoLevel; l++ {
		if f.At[l]&positions != 0 {
			return l
		}
	}
	return NoLevel
}

// first returns the lowest of the positions at which the word agrees at the given level or a better
// one, or 64 if there is none.
func (f *Fit) first(positions uint64, level Level) int {
	return bits.TrailingZeros64(f.At[level] & positions)
}
