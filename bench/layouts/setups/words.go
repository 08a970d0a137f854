package setups

import (
	"slices"

	"adshard/bench/layouts"
	"adshard/search"
)

// maxText is the largest length of the text of a query made here.
const maxText = search.MaxQueryBytes

// joined returns n different words: a run of words of a query of the log, then
// words of further queries. If the log has too few words, common words of the
// keywords follow.
func (m *maker) joined(n int) []string {
	var words []string
	for tries := 0; len(words) < n && tries < 20*n; tries++ {
		of := m.any().Words
		from := 0
		if rest := n - len(words); len(of) > rest {
			from = m.dice.IntN(len(of) - rest + 1)
		}
		for _, w := range of[from:] {
			if len(words) < n {
				words = add(words, w)
			}
		}
	}
	for i := 0; len(words) < n && i < len(m.common); i++ {
		words = add(words, m.common[i])
	}
	return words
}

// add appends a word unless the list contains it.
func add(words []string, word string) []string {
	if slices.Contains(words, word) {
		return words
	}
	return append(words, word)
}

// matches counts the keywords that match.
func (m *maker) matches(words []string) uint64 {
	f, err := m.searcher.Search(m.ctx, &layouts.Query{Words: words})
	if err != nil && m.err == nil {
		m.err = err
	}
	return f.Matches
}

// nearest returns a setup of a single query: the one of the log whose number of
// matches, not 0, is closest to n, or the first of several in the log's order.
func (m *maker) nearest(name string, n uint64) layouts.Setup {
	best, off := m.log[0], ^uint64(0)
	for _, q := range m.log {
		found := m.matches(q.Words)
		if d := max(found, n) - min(found, n); d < off && found > 0 {
			best, off = q, d
		}
	}
	return layouts.Setup{Name: name, Queries: []*layouts.Query{best}}
}
