package words

import "adshard/fault"

// Lexicon is a thesaurus: pairs of single words, by folded form.
type Lexicon struct{ hash string }

// Synonyms returns the folded forms of the synonyms of a folded form in a
// language; nil where there are none.
func (l *Lexicon) Synonyms(language, folded string) []string { return nil }

// Hash identifies the file's pairs; "" for none.
func (l *Lexicon) Hash() string {
	if l == nil {
		return ""
	}
	return l.hash
}

// OpenLexicon reads a lexicon file.
func OpenLexicon(path string) (*Lexicon, error) {
	return nil, fault.Newf(fault.NotFound, "words: lexicon", "%s: no lexicon", path)
}
