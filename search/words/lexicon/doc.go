// Package lexicon builds lexicon files from thesauri in the MyThes format,
// such as Debian's packages mythes-en-us and mythes-cs, and opens them; package
// words reads what is in them.
//
// A pair is a head word and a word listed under it. Kept are pairs of single
// words only; left out are entries with a mark in brackets ("generic term",
// "similar term", "related term", "antonym", or a remark on the use) since
// they are no plain synonyms, entries of several words or with signs, and
// one-letter words (symbols and Roman numerals, which would join "i" with
// "one"). Words are compared by folded form; pairs are symmetric; two words
// under one head are no pair.
//
// Goals: the same file from the same sources, whatever their order.
// Non-goals: senses, parts of speech, chains of synonyms.
package lexicon
