package search

import "adshard/search/words"

// ExplainedWord is what is known of a word of a query, for explanations.
type ExplainedWord struct {
	words.Word
	Stems []ExplainedStem
}

// ExplainedStem is a word's stem in a language, and its synonyms there, as folded forms.
type ExplainedStem struct {
	Language, Stem string
	Synonyms       []string
}

// Explain returns the words of a text that Expand accepts, as far as queries use them.
func (e *Expansions) Explain(text string) []ExplainedWord {
	split, _, _, err := Units(text)
	if err != nil {
		return nil
	}
	out := make([]ExplainedWord, len(split))
	for i := range out {
		out[i].Word = split[i]
		for _, l := range e.languages.Codes() {
			stem, _ := words.Stem(l, split[i].Fold)
			out[i].Stems = append(out[i].Stems, ExplainedStem{l, stem, e.lexicon.Synonyms(l, split[i].Fold)})
		}
	}
	return out
}
