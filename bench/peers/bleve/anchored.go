package bleve

import (
	"context"

	index "github.com/blevesearch/bleve_index_api"

	"adshard/bench/layouts"
)

// newAnchored returns a function that looks up documents by their rarest word
// and compares all words.
func newAnchored(r index.IndexReader) (matchFunc, error) {
	values, err := r.DocValueReader([]string{wordsField})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, word string, words map[string]bool, f *layouts.Found) error {
		matches := true
		compare := func(_ string, term []byte) { matches = matches && words[string(term)] }
		return documents(ctx, r, anchorField, word, func(doc *index.TermFieldDoc) error {
			matches = true
			if err := values.VisitDocValues(doc.ID, compare); err != nil || !matches {
				return err
			}
			return count(r, doc, f)
		})
	}, nil
}
