package setups

import (
	"cmp"
	"fmt"
	"slices"

	"adshard/bench/layouts"
	"adshard/bench/measure"
	"adshard/search"
)

// attempts is how many words are tried to bring a query closer to its number of matches.
const attempts = 100

// matching returns a setup of queries with about target matches, a quarter more or less.
func (m *maker) matching(target uint64) layouts.Setup {
	var all []made
	good := 0
	// Queries for large targets take long to find and differ little, so fewer are enough.
	n := m.n
	if target >= 10_000 {
		n = min(n, 20)
	}
	for tries := 0; good < n && tries < 2*n && m.err == nil; tries++ {
		words, found := m.towards(target)
		off := distance(found, target)
		if off <= tolerance(target) {
			good++
		}
		all = append(all, made{words, found, off})
	}
	return m.promised(fmt.Sprintf("matches %d", target), target, all, good)
}

// four returns a setup of unchanged queries of the log with four words and about target
// matches. They show what matches cost by themselves; longer queries have more matches
// and more of everything else.
func (m *maker) four(target uint64) layouts.Setup {
	var all []made
	good := 0
	for _, q := range m.log {
		if len(q.Words) != 4 || good == m.n {
			continue
		}
		found := m.matches(q.Words)
		off := distance(found, target)
		if off <= tolerance(target) {
			good++
		}
		all = append(all, made{q.Words, found, off})
	}
	return m.promised(fmt.Sprintf("four %d", target), target, all, good)
}

// made is a query with its number of matches and their distance from the target.
type made struct {
	words []string
	found uint64
	off   float64
}

// promised returns a setup of the queries that have the number of matches that its name
// promises. If there are none, the setup is empty, and m.lacking says why.
func (m *maker) promised(name string, target uint64, all []made, good int) layouts.Setup {
	slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.off, b.off) })
	s := layouts.Setup{Name: name}
	if good == 0 {
		why := "there is no such query in the log"
		if len(all) > 0 {
			why = fmt.Sprintf("its name promises about %s matches, but with these %s keywords no query has so many, a quarter more or less; the nearest has %s: take more keywords, or another setup",
				measure.Number(float64(target)), measure.Number(float64(m.set.Len())), measure.Number(float64(all[0].found)))
		}
		m.lacking = append(m.lacking, Lacking{Name: name, Why: why})
		return s
	}
	for _, q := range all[:good] {
		s.Queries = append(s.Queries, m.query(q.words))
	}
	m.dice.Shuffle(len(s.Queries), func(i, j int) { s.Queries[i], s.Queries[j] = s.Queries[j], s.Queries[i] })
	return s
}

func tolerance(target uint64) float64 {
	if target == 0 {
		return 0
	}
	return 0.25
}

// distance returns how far found is from the target, relative to the target.
func distance(found, target uint64) float64 {
	if target == 0 {
		return float64(found)
	}
	return max(float64(found)-float64(target), float64(target)-float64(found)) / float64(target)
}

// towards takes a query of the log and adds or leaves out words as long as that brings
// its number of matches closer to the target.
func (m *maker) towards(target uint64) (words []string, found uint64) {
	words = slices.Clone(m.any().Words)
	found = m.matches(words)
	for tries := 0; tries < attempts && m.err == nil && distance(found, target) > tolerance(target); tries++ {
		other := m.varied(words, found, target)
		if other == nil {
			break
		}
		if n := m.matches(other); distance(n, target) < distance(found, target) {
			words, found = other, n
		}
	}
	return words, found
}

// varied returns the words with one added, left out, or replaced by a different one. It
// returns nil if there is nothing to vary.
func (m *maker) varied(words []string, found, target uint64) []string {
	at := m.dice.IntN(len(words))
	switch {
	case found > target && len(words) == 1:
		return nil
	case found > target:
		return slices.Delete(slices.Clone(words), at, at+1)
	case len(words) < search.MaxQueryWords:
		return add(slices.Clip(words), m.helpful(target-found))
	}
	other := slices.Clone(words)
	other[at] = m.helpful(target - found)
	if slices.Contains(words, other[at]) {
		return words
	}
	return other
}

// helpful draws a word that may bring the missing matches: the more are missing, the
// commoner the word.
func (m *maker) helpful(missing uint64) string {
	most := len(m.common)
	for most > 64 && uint64(m.often[most-1]) < missing/4 {
		most /= 2
	}
	return m.common[m.dice.IntN(most)]
}
