package search

import (
	"slices"
	"unicode/utf8"

	"adshard/fault"
	"adshard/search/words"
)

// MaxQueryBytes is the largest size of a query's text in bytes (serving.md §1.5).
const MaxQueryBytes = 1024

// Expand makes a query of a text: its words, and the terms that anchor matching keywords. It adds
// the term of each word's own stem in each language, and in language "" (campaigns without any of
// them). With a reach of Synonym it also adds the terms of the word's synonyms
// in the language. Language "" has neither inflection nor synonyms. A nil lexicon has no synonyms.
// Scripts without spaces have neither, too: there it adds each sequence of units that a keyword may
// have as a run.
//
// Words have stems in the default languages, and are not corrected. Own terms come first, in the order of the words. A text without a word gives a query without
// words and terms. It returns fault.Invalid with field "q" if the text has more than MaxQueryBytes
// bytes or words.Split refuses it.
func Expand(text string, reach Level, lex *words.Lexicon) (*Query, error) {
	return ExpandIn(words.Default, text, reach, lex)
}

// Vocabulary corrects words that no keyword has; *spelling.Vocabulary is one. Words are folded forms.
type Vocabulary interface {
	// Has reports whether a keyword has the word with a hash (words.Hash).
	Has(hash uint64) bool
	// Corrections returns the corrections of a word that no keyword has, best first.
	Corrections(word string) []string
	// Version names the vocabulary's content; it is not "".
	Version() string
}

// Forms says what words have beside themselves.
type Forms struct {
	// Languages are those in which words have stems.
	Languages words.Languages
	// Lexicon has the synonyms; nil means none.
	Lexicon *words.Lexicon
	// Vocabulary has the corrections; nil means none.
	Vocabulary Vocabulary

	words *wordForms // nil: they are not kept
}

// ExpandIn is Expand for words that have stems in some languages.
func ExpandIn(in words.Languages, text string, reach Level, lex *words.Lexicon) (*Query, error) {
	return ExpandBy(Forms{Languages: in, Lexicon: lex}, text, reach)
}

// ExpandBy is Expand for words that have other forms. With a reach of Misspelt it also adds the terms of
// each word's corrections, in all languages and in language "".
func ExpandBy(f Forms, text string, reach Level) (*Query, error) {
	const op = "search: expand"
	if len(text) > MaxQueryBytes {
		return nil, fault.Field(op, "q", "the query has %d bytes, at most %d are allowed: shorten it", len(text), MaxQueryBytes)
	}
	if !utf8.ValidString(text) {
		return nil, fault.Field(op, "q", "the query is not valid UTF-8: send it as UTF-8")
	}
	split, joined, truncated, err := Units(text)
	if err != nil {
		return nil, fault.Field(op, "q", "%w", err)
	}
	q := &Query{Text: text, Truncated: truncated}
	if reach >= Misspelt && f.Vocabulary != nil {
		q.Vocabulary = f.Vocabulary.Version()
	}
	if len(split) == 0 {
		return q, nil
	}
	q.Words = make([]Word, len(split))
	for i, w := range split {
		q.Words[i] = Word{Norm: words.Hash(w.Normalised), Fold: words.Hash(w.Fold)}
	}
	languages := f.Languages.Codes()
	e := expansion{list: make([]termSense, 0, (1+len(languages))*len(split))}
	var misspelt []int // words
	for i, w := range split {
		forms := f.word(languages, w.Fold, q.Words[i].Fold, q.Vocabulary)
		for _, t := range forms.terms {
			e.add(t, i, 0)
		}
		if q.Vocabulary != "" && forms.misspelt {
			misspelt = append(misspelt, i)
		}
	}
	q.Runs = e.runs(split, joined, languages)
	if reach >= Synonym && f.Lexicon != nil {
		e.synonyms(split, languages, f.Lexicon)
	}
	for _, i := range misspelt {
		e.corrections(i, split[i].Fold, languages, &f, q.Vocabulary)
	}
	q.Terms = e.terms()
	return q, nil
}

// expansion collects a query's terms, which may still repeat.
type expansion struct {
	list []termSense
}

type termSense struct {
	term  uint64
	sense Sense
}

func (e *expansion) add(term uint64, word int, synonym uint64) {
	e.list = append(e.list, termSense{term, Sense{Word: uint16(word), Synonym: synonym}})
}

// runs returns the sequences of two or more units that can be a run, and adds their terms.
func (e *expansion) runs(split []words.Word, joined uint64, languages []string) (list []Run) {
	if joined == 0 {
		return nil
	}
	var text []byte
	for from := range split {
		text = append(text[:0], split[from].Normalised...)
		for to := from + 1; joined>>to&1 != 0; to++ {
			text = append(text, split[to].Normalised...)
			e.add(words.TermBytes("", text), len(split)+len(list), 0)
			for _, l := range languages {
				e.add(words.TermBytes(l, text), len(split)+len(list), 0)
			}
			list = append(list, Run{Norm: words.HashBytes(text), Word: uint8(from), More: uint8(to - from)})
		}
	}
	return list
}

func (e *expansion) correct(term uint64, word int, correction uint64) {
	e.list = append(e.list, termSense{term, Sense{Word: uint16(word), Misspelt: true, Synonym: correction}})
}

func (e *expansion) synonyms(split []words.Word, languages []string, lex *words.Lexicon) {
	for i, w := range split {
		for _, l := range languages {
			for _, s := range synonymsOf(lex, l, w.Fold) {
				e.add(words.TermOf(l, s), i, words.Hash(s))
			}
		}
	}
}

// synonymsOf returns the synonyms of a folded form. Runs are and have none.
func synonymsOf(lex *words.Lexicon, language, folded string) []string {
	if words.IsRun(folded) {
		return nil
	}
	list := lex.Synonyms(language, folded)
	if !slices.ContainsFunc(list, words.IsRun) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), words.IsRun)
}

func (e *expansion) corrections(word int, fold string, languages []string, f *Forms, version string) {
	for _, c := range f.Vocabulary.Corrections(fold) {
		hash := words.Hash(c)
		for _, t := range f.word(languages, c, hash, version).terms {
			e.correct(t, word, hash)
		}
	}
}

// terms removes repeated terms, in order of first appearance. The senses of all terms lie in one
// array.
func (e *expansion) terms() []QueryTerm {
	var index TermTable
	index.Clear(len(e.list))
	terms := make([]QueryTerm, 0, len(e.list))
	counts := make([]int, 0, len(e.list))
	for _, ts := range e.list {
		i := index.Find(ts.term)
		if i < 0 {
			i = len(terms)
			index.Put(ts.term, int32(i))
			terms = append(terms, QueryTerm{Term: ts.term})
			counts = append(counts, 0)
		}
		counts[i]++
	}
	senses := make([]Sense, len(e.list))
	for i, n := range counts {
		terms[i].Senses, senses = senses[:0:n], senses[n:]
	}
	for _, ts := range e.list {
		t := &terms[index.Find(ts.term)]
		t.Senses = append(t.Senses, ts.sense)
	}
	return terms
}
