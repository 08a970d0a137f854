package search

import "math/bits"

// MaxKeywordWords is the number of words that a keyword can have
// (serving.md §1.5); a posting with more never matches.
const MaxKeywordWords = 10

// Fit is how one word of a keyword agrees with the whole query under one language. The zero Fit is
// not valid: a word that agrees nowhere has Best NoLevel.
type Fit struct {
	// At holds for each level the positions of the query's words (bit i: word
	// i) that the word agrees with at that level or at a better one.
	At [Levels]uint32
	// Best is the best level at which it agrees with any of them.
	Best Level
}

// noFit is the fit of a word that agrees with none of the query's.
var noFit = Fit{Best: NoLevel}

// add records that the word agrees with the query's word pos at level.
func (f *Fit) add(pos uint8, level Level) {
	for l := level; l < NoLevel; l++ {
		f.At[l] |= 1 << pos
	}
	f.Best = min(f.Best, level)
}

// within returns the best level at which the word agrees with any of the
// positions, NoLevel when with none.
func (f *Fit) within(positions uint32) Level {
	for l := f.Best; l < NoLevel; l++ {
		if f.At[l]&positions != 0 {
			return l
		}
	}
	return NoLevel
}

// first returns the lowest of the positions that the word agrees with at level
// or better; 32 when there is none.
func (f *Fit) first(positions uint32, level Level) int {
	return bits.TrailingZeros32(f.At[level] & positions)
}
