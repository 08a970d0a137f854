package search

import (
	"strings"
	"sync/atomic"

	"adshard/search/words"
)

// wordForms caches what words become in queries, which is the dearest part of expanding them: most words of queries that
// were not asked before were asked in others. Each word has one slot, by its hash; the last word that wanted it is there.
type wordForms struct {
	slots [wordSlots]atomic.Pointer[formsOfWord]
}

// formsOfWord is what a word becomes.
type formsOfWord struct {
	fold  string
	terms []uint64 // by which keywords with the word are found: under no language, and in each language
	// misspelt says that the vocabulary of a version lacks the word; without a version it says nothing.
	misspelt   bool
	vocabulary string
}

const (
	// wordSlots bounds the memory to 3 to 4 MB, with the six languages that there are.
	wordSlots = 1 << 14
	// maxWordBytes bounds a word that is kept.
	maxWordBytes = 64
)

// word returns what a folded form with a hash (words.Hash) becomes. The version is that of the vocabulary, or "".
func (f *Forms) word(in []string, fold string, hash uint64, version string) *formsOfWord {
	var slot *atomic.Pointer[formsOfWord]
	if f.words != nil && len(fold) <= maxWordBytes {
		slot = &f.words.slots[hash%wordSlots]
		if there := slot.Load(); there != nil && there.fold == fold && (version == "" || there.vocabulary == version) {
			return there
		}
	}
	made := &formsOfWord{fold: fold, terms: termsOf(in, fold), vocabulary: version}
	made.misspelt = version != "" && !f.Vocabulary.Has(hash)
	if slot != nil {
		made.fold = strings.Clone(fold) // it may be part of a longer text
		slot.Store(made)
	}
	return made
}

func termsOf(in []string, fold string) []uint64 {
	terms := make([]uint64, 1, 1+len(in))
	terms[0] = words.Term("", fold)
	for _, l := range in {
		terms = append(terms, words.TermOf(l, fold))
	}
	return terms
}
