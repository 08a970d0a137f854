package ingest

import (
	"slices"
	"strings"

	"adshard/backend"
	"adshard/search"
)

// blockers finds the negatives that block a text. Each negative lies under the
// least of its words, which a text that it blocks must hold.
type blockers map[string][]blocker

type blocker struct {
	*backend.Negative
	words []string
}

// newBlockers takes the enabled negatives.
func newBlockers(negatives []backend.Negative) blockers {
	var b blockers
	for i := range negatives {
		n := &negatives[i]
		if !n.Enabled {
			continue
		}
		words := strings.Split(n.Words, " ")
		if b == nil {
			b = make(blockers)
		}
		least := slices.Min(words)
		b[least] = append(b[least], blocker{n, words})
	}
	return b
}

// blocking returns the negatives that block a query of exactly these words
// (joined by a space), in ascending id order (serving.md §3).
func (b blockers) blocking(joined string) []*backend.Negative {
	if len(b) == 0 {
		return nil
	}
	text := strings.Split(joined, " ")
	var found []*backend.Negative
	for i, word := range text {
		if slices.Contains(text[:i], word) {
			continue
		}
		for _, n := range b[word] {
			if n.blocks(text) {
				found = append(found, n.Negative)
			}
		}
	}
	slices.SortFunc(found, func(a, b *backend.Negative) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return found
}

func (n *blocker) blocks(text []string) bool {
	switch n.Type {
	case search.Exact:
		return slices.Equal(n.words, text)
	case search.Phrase:
		for i := 0; i+len(n.words) <= len(text); i++ {
			if slices.Equal(n.words, text[i:i+len(n.words)]) {
				return true
			}
		}
		return false
	}
	for _, word := range n.words {
		if !slices.Contains(text, word) {
			return false
		}
	}
	return true
}
