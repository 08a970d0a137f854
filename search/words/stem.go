package words

import "github.com/blevesearch/snowballstem"

// HasStemmer reports whether words of a language can have stems. They have them where the language is
// one of the Languages in use.
func HasStemmer(language string) bool { return stemmerOf(language).stem != nil }

// Stem returns the stem of a folded form in a language, which is a run itself, or the folded form itself
// and false if the language has no stemmer. Keywords in such a language are found by Term("", folded).
func Stem(language, folded string) (stem string, ok bool) {
	if s := stemmerOf(language); s.stem != nil {
		if IsRun(folded) {
			return folded, true
		}
		return s.stem(folded), true
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

// stemmerOf returns the stemmer of a language, which has no function if there is none.
func stemmerOf(language string) stemmer {
	for i := range languages {
		if languages[i].code == language {
			return languages[i].stemmer
		}
	}
	return none
}

// snowball returns a stemmer of the pinned Snowball module.
func snowball(stem func(*snowballstem.Env) bool) stemmer {
	return stemmer{"snowball 0.9.0", func(folded string) string {
		env := snowballstem.NewEnv(folded)
		stem(env)
		return env.Current()
	}}
}
