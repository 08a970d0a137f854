package search

import "math/bits"

// Pair is the word of the query that a keyword's word agrees with, and how well.
type Pair struct {
	Query int // index into the query's words
	Level Level
}

// Pairs returns, for explanations, a pair for each word of a keyword of type t that matches, and
// the level of the match; nil and NoLevel when it does not. Of several words of the query that
// agree equally well, it returns the first; where places count, those of the first best place.
func (m *Matcher) Pairs(t MatchType, fits []Fit) ([]Pair, Level) {
	level := m.Level(t, fits)
	if level == NoLevel {
		return nil, NoLevel
	}
	all := m.gather[:len(fits)]
	r := m.rules[t]
	pairs := make([]Pair, len(fits))
	for i, f := range all {
		pairs[i].Query, pairs[i].Level = -1, NoLevel
		switch r.shape {
		case sequence:
			pairs[i].at(f, 1<<i)
		case phrase:
			_, starts := bestPhrase(all, r.reach)
			pairs[i].at(f, 1<<(bits.TrailingZeros32(starts)+i))
		case subsequence:
			free := ^uint32(0)
			if i > 0 {
				free <<= pairs[i-1].Query + 1
			}
			pairs[i].at(f, 1<<f.first(free, level))
		case runSet:
			_, run := bestRun(all, r.reach)
			pairs[i].at(f, run)
		case anySet, sameSet:
			pairs[i].at(f, m.all)
		}
	}
	return pairs, level
}

// at returns the best of some positions, the first of equal ones.
func (p *Pair) at(f *Fit, positions uint32) {
	if p.Level = f.within(positions); p.Level < NoLevel {
		p.Query = f.first(positions, p.Level)
	}
}
