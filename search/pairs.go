package search

import "math/bits"

// Pair is the query word with which a keyword's word agrees, and how well.
type Pair struct {
	Query int // index into the query's words
	More  int // number of the query's words after that one with which a run agrees, too
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
	next := 0 // where the keyword's word begins, counted in units
	for i, f := range all {
		pairs[i].Query, pairs[i].Level = -1, NoLevel
		switch r.shape {
		case sequence:
			pairs[i].at(f, 1<<next)
		case phrase:
			_, starts := bestPhrase(all, r.reach)
			pairs[i].at(f, 1<<(bits.TrailingZeros64(starts)+next))
		case subsequence:
			free := ^uint64(0)
			if i > 0 {
				free <<= pairs[i-1].Query + pairs[i-1].More + 1
			}
			pairs[i].at(f, 1<<f.first(free, level))
		case runSet:
			_, run := bestRun(all, r.reach)
			pairs[i].at(f, run)
		case anySet, sameSet:
			pairs[i].at(f, m.all)
		}
		next += 1 + int(f.More)
	}
	return pairs, level
}

// at sets the pair to the best of some positions, or to the first of equally good ones.
func (p *Pair) at(f *Fit, positions uint64) {
	if p.Level = f.within(positions); p.Level < NoLevel {
		p.More = int(f.More)
		p.Query = f.first(positions, p.Level)
	}
}
