package setups

import (
	"cmp"
	"fmt"
	"slices"

	"adshard/bench/layouts"
	"adshard/search"
)

// attempts is how often a word is tried to bring a query nearer to its matches.
const attempts = 100

// matching are queries with about target matches, a quarter more or less. When
// there are none, those that came nearest.
func (m *maker) matching(target uint64) layouts.Setup {
	var all []made
	good := 0
	// Large targets take long and differ little: fewer queries do.
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
		all = append(all, made{words, off})
	}
	return m.closest(fmt.Sprintf("matches %d", target), all, good)
}

// four are queries of the log as they are, those of four words with about target
// matches: what matches cost by themselves, since longer queries have more of
// them and of everything else.
func (m *maker) four(target uint64) layouts.Setup {
	var all []made
	good := 0
	for _, q := range m.log {
		if len(q.Words) != 4 || good == m.n {
			continue
		}
		off := distance(m.matches(q.Words), target)
		if off <= tolerance(target) {
			good++
		}
		all = append(all, made{q.Words, off})
	}
	return m.closest(fmt.Sprintf("four %d", target), all, good)
}

// made is a query and how far off its matches are.
type made struct {
	words []string
	off   float64
}

// closest is a setup of the good ones of these queries, at least of the ten
// that come nearest.
func (m *maker) closest(name string, all []made, good int) layouts.Setup {
	slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.off, b.off) })
	keep := max(good, min(len(all), 10))
	s := layouts.Setup{Name: name}
	for _, q := range all[:min(keep, len(all))] {
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

// distance is how far off found is, against the target.
func distance(found, target uint64) float64 {
	if target == 0 {
		return float64(found)
	}
	return max(float64(found)-float64(target), float64(target)-float64(found)) / float64(target)
}

// towards takes a query of the log and adds words, or leaves some out, as long
// as that brings its matches nearer to the target.
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

// varied has one word more or less, or another in the place of one; nil: there
// is nothing to vary.
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

// helpful draws a word that may bring so many more matches: the more are
// missing, the commoner.
func (m *maker) helpful(missing uint64) string {
	most := len(m.common)
	for most > 64 && uint64(m.often[most-1]) < missing/4 {
		most /= 2
	}
	return m.common[m.dice.IntN(most)]
}
