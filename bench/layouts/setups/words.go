package setups

import (
	"slices"

	"adshard/bench/layouts"
	"adshard/search"
)

// maxText is the longest text of a query made here.
const maxText = search.MaxQueryBytes

// joined are n different words: a run of a query of the log, then those of
// further ones. Where the log has too few words, common ones of the keywords.
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

// add appends a word unless it is there.
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

// nearest is the single query of the log whose matches are nearest to n; equally
// near ones in the log's order.
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
