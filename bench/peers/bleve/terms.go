package bleve

import (
	"context"
	"errors"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"adshard/bench/layouts"
)

// end follows each word of a term; words do not contain it.
const end = " "

// term returns the term of a keyword with these words.
func term(words []string) string { return strings.Join(words, end) + end }

// newTerms returns a function that looks up terms by their first word and
// compares the others.
func newTerms(r index.IndexReader) (matchFunc, error) {
	return func(ctx context.Context, word string, words map[string]bool, f *layouts.Found) error {
		terms, err := r.FieldDictPrefix(wordsField, []byte(word+end))
		if err != nil {
			return err
		}
		for n := 0; ; n++ {
			next, err := terms.Next()
			if err == nil && next != nil && among(next.Term[len(word)+len(end):], words) {
				err = documents(ctx, r, wordsField, next.Term, func(doc *index.TermFieldDoc) error { return count(r, doc, f) })
			}
			if err == nil && n%1024 == 1023 {
				err = ctx.Err()
			}
			if err != nil || next == nil {
				return errors.Join(err, terms.Close())
			}
		}
	}, nil
}

// among reports whether all words in the rest of a term are among words.
func among(rest string, words map[string]bool) bool {
	for rest != "" {
		word, others, _ := strings.Cut(rest, end)
		if !words[word] {
			return false
		}
		rest = others
	}
	return true
}
