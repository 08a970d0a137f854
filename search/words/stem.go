package words

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Codes of the languages that have a stemmer.
const (
	czech       = "cs"
	englishCode = "en"
)

// Languages returns the codes of the languages with a stemmer, sorted.
func Languages() []string { return []string{czech, englishCode} }

// HasStemmer reports whether words of the language have stems. Only they may have synonyms.
func HasStemmer(language string) bool { return language == czech || language == englishCode }

// Stem returns the stem of a folded form in a language, or the folded form itself and false if the
// language has no stemmer. Keywords in such a language are found by Term("", folded).
func Stem(language, folded string) (stem string, ok bool) {
	switch language {
	case czech:
		return stemCzech(folded), true
	case englishCode:
		return stemEnglish(folded), true
	}
	return folded, false
}

// TermOf returns the term of a folded form in a language: that of its stem or, if the language has
// no stemmer, Term("", folded).
func TermOf(language, folded string) uint64 {
	stem, ok := Stem(language, folded)
	if !ok {
		language = ""
	}
	return Term(language, stem)
}

// stemEnglish uses the English stemmer of the pinned Snowball module.
func stemEnglish(folded string) string {
	env := snowballstem.NewEnv(folded)
	english.Stem(env)
	return env.Current()
}
