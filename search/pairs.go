package search

import "math/bits"

// Pair is the query word with which a keyword's word agrees, and how well.
type Pair struct {
	Query int // index into the query's words
	Level Level
}

// Pairs returns, for explanations, a pair for each word of a matching keyword of type t, and the
// level of the match, or nil and NoLevel if it does not match. Of several query words that agree
// equally well it returns the first. If order or adjacency matters, it returns those of the first
// best place.
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

// at sets the pair to the best of some positions, or to the first of equally good ones.
func (p *Pair) at(f *Fit, positions uint32) {
	if p.Level = f.within(positions); p.Level < NoLevel {
		p.Query = f.first(positions, p.Level)
	}
}
