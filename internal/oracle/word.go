package oracle

import (
	"slices"

	"adshard/search"
	"adshard/search/words"
)

// word is a word of a keyword, or a unit of a query.
type word struct {
	words.Word
	run   bool     // whether its script has no spaces
	units []string // those of a run, or the normalised word alone
	// forms are the word's stem and synonyms in each of Oracle.in.
	forms []form
	// corrections of a unit of a query are the words of the vocabulary, folded, for which it may be misspelt.
	corrections []string
	// agree says how the word agrees with the units of the present query from each on: first under no language, then under each of
	// Oracle.in. An entry is nil if the word agrees with none of them.
	agree [][]search.Level
}

// none is the index in word.agree that stands for no language or one without a stemmer.
const none = 0

type form struct {
	stem     string
	synonyms []string // folded
}

func analyse(w words.Word, in []string, thesaurus Thesaurus) *word {
	n := &word{Word: w, run: words.IsRun(w.Normalised), units: words.AppendUnits(nil, w.Normalised)}
	for _, l := range in {
		f := form{}
		f.stem, _ = words.Stem(l, w.Fold)
		if thesaurus != nil && !n.run {
			f.synonyms = thesaurus.Synonyms(l, w.Fold)
		}
		n.forms = append(n.forms, f)
	}
	n.agree = make([][]search.Level, 1+len(n.forms))
	return n
}

// level returns how a keyword's word agrees with a query's word under a language, which is given as an index of
// word.agree (serving.md §2).
func (w *word) level(q *word, language int) search.Level {
	if w.Normalised == q.Normalised {
		return search.Identical
	}
	if w.Fold == q.Fold {
		return search.Folded
	}
	if w.run || q.run {
		return search.NoLevel
	}
	if language != none {
		mine, its := &w.forms[language-1], &q.forms[language-1]
		if mine.stem == its.stem {
			return search.Inflected
		}
		if slices.Contains(mine.synonyms, q.Fold) {
			return search.Synonym
		}
	}
	if slices.Contains(q.corrections, w.Fold) {
		return search.Misspelt
	}
	return search.NoLevel
}

// compare compares the word with all words of a query.
func (w *word) compare(query []*word) {
	for language := range w.agree {
		w.agree[language] = nil
		for j := range query {
			if l := w.levelFrom(query[j:], language); l != search.NoLevel {
				w.note(language, j, l, len(query))
			}
		}
	}
}

// levelFrom returns how a keyword's word agrees with the first units of a query.
func (w *word) levelFrom(query []*word, language int) search.Level {
	if !w.run {
		return w.level(query[0], language)
	}
	if !stand(w.units, query) {
		return search.NoLevel
	}
	return search.Identical
}

// stand reports whether a query begins with the given units.
func stand(units []string, query []*word) bool {
	for i, unit := range units {
		if i == len(query) || query[i].Normalised != unit {
			return false
		}
	}
	return true
}

// note records that the word agrees with n units from unit j on at a level.
func (w *word) note(language, j int, l search.Level, n int) {
	if w.agree[language] == nil {
		w.agree[language] = slices.Repeat([]search.Level{search.NoLevel}, n)
	}
	w.agree[language][j] = l
}
