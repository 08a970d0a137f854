package search

import "math/bits"

// shape is what the first three properties of a Rule amount to. If no other words are allowed,
// adjacency is implied: the query's words are the keyword's.
type shape uint8

const (
	anySet      shape = iota // all words in the query, any order, others allowed
	sameSet                  // the query's words as a set are the keyword's as a set
	runSet                   // some run of the query's words holds all keyword words and no others
	subsequence              // in order, with others allowed between them
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

// matchAnySet matches if every keyword word agrees with some word of the query. It takes the best
// level of each.
func matchAnySet(fits []*Fit) Level {
	worst := Identical
	for _, f := range fits {
		worst = max(worst, f.Best)
	}
	return worst
}

// union returns the positions that agree with any of the words at the given level or a better one.
func union(fits []*Fit, level Level) uint64 {
	var u uint64
	for _, f := range fits {
		u |= f.covered(level)
	}
	return u
}

// matchSameSet is matchAnySet with the further condition that every word of the query agrees with
// some keyword word. The level is that of the keyword's words only: further words of the query
// decide whether the keyword matches, not how well.
func matchSameSet(fits []*Fit, all uint64, reach Level) Level {
	if union(fits, reach) != all {
		return NoLevel
	}
	return matchAnySet(fits)
}

// matchRunSet matches if some run of the query's words holds all keyword words and nothing else. If
// all words of a run agree with some keyword word, a longer run can only be better, so only the
// longest runs are tried.
func matchRunSet(fits []*Fit, reach Level) Level {
	level, _ := bestRun(fits, reach)
	return level
}

// bestRun returns the best level and the positions of the first run that has it.
func bestRun(fits []*Fit, reach Level) (best Level, positions uint64) {
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

// lowestRun returns the lowest run of set bits in a set that is not empty.
func lowestRun(set uint64) uint64 {
	start := bits.TrailingZeros64(set)
	length := bits.TrailingZeros64(^(set >> start))
	return (uint64(1)<<length - 1) << start
}

// matchPhrase matches if the keyword's words are in the query in order and next to each other. It
// returns the level of the best place.
func matchPhrase(fits []*Fit, reach Level) Level {
	level, _ := bestPhrase(fits, reach)
	return level
}

// bestPhrase returns the best level and the starting positions of the places that reach it. The
// level of a place is that of its worst word. Fit.At of a level includes better levels, so the
// first level that leaves a place is the best.
func bestPhrase(fits []*Fit, reach Level) (Level, uint64) {
	for l := Identical; l <= reach && l < NoLevel; l++ {
		starts, next := ^uint64(0), 0
		for _, f := range fits {
			starts &= f.At[l] >> next
			next += 1 + int(f.More)
		}
		if starts != 0 {
			return l, starts
		}
	}
	return NoLevel, 0
}

// matchSubsequence matches if the keyword's words stand in the query in order. It returns the level
// of the best choice of positions. At each level, taking the earliest position for each word finds
// a choice if there is one.
func matchSubsequence(fits []*Fit, reach Level) Level {
	for l := Identical; l <= reach && l < NoLevel; l++ {
		if subsequenceAt(fits, l) {
			return l
		}
	}
	return NoLevel
}

func subsequenceAt(fits []*Fit, level Level) bool {
	free := ^uint64(0)
	for _, f := range fits {
		pos := f.first(free, level)
		if pos == 64 {
			return false
		}
		free = ^uint64(0) << (pos + 1 + int(f.More))
	}
	return true
}

// matchSequence compares the query with the keyword, word by word, and at the end their numbers of
// words.
func matchSequence(fits []*Fit, all uint64) Level {
	worst, next := Identical, 0
	for _, f := range fits {
		worst = max(worst, f.within(1<<next))
		next += 1 + int(f.More)
	}
	if all != 1<<next-1 {
		return NoLevel
	}
	return worst
}
