package search

import "math/bits"

// shape is what a Rule's first three properties come to. Where no other words are
// allowed, adjacency is implied: the query's words are the keyword's.
type shape uint8

const (
	anySet      shape = iota // all words in the query, any order, others allowed
	sameSet                  // the query's words as a set are the keyword's as a set
	runSet                   // some run of the query's words holds exactly the set
	subsequence              // in order, others between them allowed
	phrase                   // in order and adjacent
	sequence                 // same number, same order
)

func shapeOf(r Rule) shape {
	switch {
	case r.Ordered && !r.Others:
		return sequence
	case r.Ordered && r.Adjacent:
		return phrase
	case r.Ordered:
		return subsequence
	case !r.Others:
		return sameSet
	case r.Adjacent:
		return runSet
	}
	return anySet
}

// matchAnySet: every keyword word agrees with some word of the query. Each is
// taken at its best.
func matchAnySet(fits []*Fit) Level {
	worst := Identical
	for _, f := range fits {
		worst = max(worst, f.Best)
	}
	return worst
}

// union returns the positions that agree with any of the words at level.
func union(fits []*Fit, level Level) uint32 {
	var u uint32
	for _, f := range fits {
		u |= f.At[level]
	}
	return u
}

// matchSameSet: as matchAnySet, and every word of the query agrees with some keyword word as well.
// The level is that of the keyword's words only: extra words of the query decide whether it
// matches, not how well.
func matchSameSet(fits []*Fit, all uint32, reach Level) Level {
	if union(fits, reach) != all {
		return NoLevel
	}
	return matchAnySet(fits)
}

// matchRunSet: some run of the query's words holds all keyword words and
// nothing else. Within a run of words that all agree with some keyword word, a
// longer run can only be better, so that the longest ones decide.
func matchRunSet(fits []*Fit, reach Level) Level {
	level, _ := bestRun(fits, reach)
	return level
}

// bestRun returns the best level and the positions of the first run with it.
func bestRun(fits []*Fit, reach Level) (best Level, positions uint32) {
	best = NoLevel
	for rest := union(fits, reach); rest != 0; {
		run := lowestRun(rest)
		rest &^= run
		worst := Identical
		for _, f := range fits {
			worst = max(worst, f.within(run))
		}
		if worst < best {
			best, positions = worst, run
		}
	}
	return best, positions
}

// lowestRun returns the lowest run of set bits of a number above 0.
func lowestRun(set uint32) uint32 {
	start := bits.TrailingZeros32(set)
	length := bits.TrailingZeros32(^(set >> start))
	return uint32((uint64(1)<<length - 1) << start)
}

// matchPhrase: the keyword's words are in the query in order, next to each other; the best place
// counts.
func matchPhrase(fits []*Fit, reach Level) Level {
	level, _ := bestPhrase(fits, reach)
	return level
}

// bestPhrase returns the best level and the places, as starting positions,
// that reach it. A place counts by its worst word. Fit.At of a level includes the
// better ones, so the first level at which a place is left is the best.
func bestPhrase(fits []*Fit, reach Level) (Level, uint32) {
	for l := Identical; l <= reach && l < NoLevel; l++ {
		starts := ^uint32(0)
		for i, f := range fits {
			starts &= f.At[l] >> i
		}
		if starts != 0 {
			return l, starts
		}
	}
	return NoLevel, 0
}

// matchSubsequence: the keyword's words stand in the query in order; the best
// choice of places counts. For each level taking the earliest place for each
// word finds one if there is one.
func matchSubsequence(fits []*Fit, reach Level) Level {
	for l := Identical; l <= reach && l < NoLevel; l++ {
		if subsequenceAt(fits, l) {
			return l
		}
	}
	return NoLevel
}

func subsequenceAt(fits []*Fit, level Level) bool {
	free := ^uint32(0)
	for _, f := range fits {
		pos := f.first(free, level)
		if pos == 32 {
			return false
		}
		free = ^uint32(0) << (pos + 1) // 0 after the last position
	}
	return true
}

// matchSequence: the query is the keyword, word by word; their numbers are
// equal.
func matchSequence(fits []*Fit) Level {
	worst := Identical
	for i, f := range fits {
		worst = max(worst, f.within(1<<i))
	}
	return worst
}
