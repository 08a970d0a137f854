package search

import (
	"strings"
	"sync/atomic"

	"adshard/search/words"
)

// wordTerms caches the terms of words, which are the dearest part of expanding a query: most words of queries that were
// not asked before were asked in others. Each word has one slot, by its hash; the last word that wanted it is there.
type wordTerms struct {
	slots [wordSlots]atomic.Pointer[termsOfWord]
}

type termsOfWord struct {
	fold  string
	terms []uint64
}

const (
	// wordSlots bounds the memory to 3 to 4 MB, with the six languages that there are.
	wordSlots = 1 << 14
	// maxWordBytes bounds a word that is kept.
	maxWordBytes = 64
)

// of returns the terms of a folded form with a hash (words.Hash). A nil cache keeps nothing.
func (c *wordTerms) of(in []string, fold string, hash uint64) []uint64 {
	if c == nil || len(fold) > maxWordBytes {
		return termsOf(in, fold)
	}
	slot := &c.slots[hash%wordSlots]
	if there := slot.Load(); there != nil && there.fold == fold {
		return there.terms
	}
	made := &termsOfWord{strings.Clone(fold), termsOf(in, fold)} // a word may be part of a longer text
	slot.Store(made)
	return made.terms
}

// termsOf returns the terms by which keywords with a folded form are found: under no language, and in each language.
func termsOf(in []string, fold string) []uint64 {
	terms := make([]uint64, 1, 1+len(in))
	terms[0] = words.Term("", fold)
	for _, l := range in {
		terms = append(terms, words.TermOf(l, fold))
	}
	return terms
}
