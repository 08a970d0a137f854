package layouts

import (
	"slices"

	"adshard/search"
	"adshard/search/words"
)

// NewQuery makes a query from a text. As in the product, only its first 32
// words count. The query of a text without a word has no words. It returns
// fault.Invalid if the product refuses the text.
func NewQuery(text string) (*Query, error) {
	expanded, err := search.Expand(text, search.Identical, nil)
	if err != nil {
		return nil, err
	}
	split, err := words.Split(text)
	if err != nil {
		return nil, err
	}
	q := &Query{Text: text, Expanded: expanded}
	for _, w := range split[:min(len(split), search.MaxQueryWords)] {
		if !slices.Contains(q.Words, w.Normalised) {
			q.Words = append(q.Words, w.Normalised)
		}
	}
	return q, nil
}

// NewQueries makes queries from texts. It leaves out texts that the product
// refuses and texts without a word.
func NewQueries(texts []string) []*Query {
	out := make([]*Query, 0, len(texts))
	for _, text := range texts {
		if q, err := NewQuery(text); err == nil && len(q.Words) > 0 {
			out = append(out, q)
		}
	}
	return out
}
