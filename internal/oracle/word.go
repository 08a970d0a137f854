package oracle

import (
	"slices"

	"adshard/search"
	"adshard/search/words"
)

// word is a word of a keyword or query.
type word struct {
	words.Word
	// forms holds for each language with a stemmer the word's stem and
	// synonyms there.
	forms map[string]form
	// agree holds for each language, and "" for none, how the word agrees with
	// each word of the query now being answered; absent where with none.
	agree map[string][]search.Level
}

type form struct {
	stem     string
	synonyms []string // folded
}

func analyse(w words.Word, thesaurus Thesaurus) *word {
	n := &word{Word: w, forms: map[string]form{}}
	for _, l := range words.Languages() {
		stem, ok := words.Stem(l, w.Fold)
		if !ok {
			continue
		}
		f := form{stem: stem}
		if thesaurus != nil {
			f.synonyms = thesaurus.Synonyms(l, w.Fold)
		}
		n.forms[l] = f
	}
	return n
}

// level is how a keyword's word agrees with a query's word under a language
// (serving.md §2).
func (w *word) level(q *word, language string) search.Level {
	if w.Norm == q.Norm {
		return search.Identical
	}
	if w.Fold == q.Fold {
		return search.Folded
	}
	mine, ok := w.forms[language]
	if !ok { // no language, or one without a stemmer
		return search.NoLevel
	}
	if mine.stem == q.forms[language].stem {
		return search.Inflected
	}
	if slices.Contains(mine.synonyms, q.Fold) {
		return search.Synonym
	}
	return search.NoLevel
}

// hold holds the word against all words of a query.
func (w *word) hold(query []*word) {
	clear(w.agree)
	w.holdUnder("", query)
	for language := range w.forms {
		w.holdUnder(language, query)
	}
}

func (w *word) holdUnder(language string, query []*word) {
	var row []search.Level
	for j, q := range query {
		l := w.level(q, language)
		if l == search.NoLevel {
			continue
		}
		if row == nil {
			row = slices.Repeat([]search.Level{search.NoLevel}, len(query))
		}
		row[j] = l
	}
	if row == nil {
		return
	}
	if w.agree == nil {
		w.agree = map[string][]search.Level{}
	}
	w.agree[language] = row
}
