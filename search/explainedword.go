package search

import "adshard/search/words"

// ExplainedWord is what is known of a word of a query, for explanations.
type ExplainedWord struct {
	words.Word
	// Stems has one in each language, or none for a run.
	Stems []ExplainedStem
	// Corrections are the words that it may stand for at Misspelt, as folded forms.
	Corrections []string
}

// ExplainedStem is a word's stem in a language, and its synonyms there, as folded forms.
type ExplainedStem struct {
	Language, Stem string
	Synonyms       []string
}

// Explain returns the words of a text that Expand accepts, as far as queries use them. They have
// corrections if the vocabulary still has the version with which the query was expanded.
func (e *Expansions) Explain(text, vocabulary string) []ExplainedWord {
	split, _, _, err := Units(text)
	if err != nil {
		return nil
	}
	f := e.forms(Misspelt)
	corrects := vocabulary != "" && vocabulary == f.version()
	out := make([]ExplainedWord, len(split))
	for i := range out {
		out[i].Word = split[i]
		for _, l := range e.languages.Codes() {
			if stem, ok := words.Stem(l, split[i].Fold); ok && !words.IsRun(stem) {
				out[i].Stems = append(out[i].Stems, ExplainedStem{l, stem, synonymsOf(e.lexicon, l, split[i].Fold)})
			}
		}
		if corrects && !f.Vocabulary.Has(words.Hash(split[i].Fold)) {
			out[i].Corrections = f.Vocabulary.Corrections(split[i].Fold)
		}
	}
	return out
}
