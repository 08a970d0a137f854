// Package lexicon builds lexicon files from thesauri in the MyThes format, such as those of Debian's
// packages mythes-*, and opens them; package words reads their content.
//
// A pair is a head word and a word listed under it. Only pairs of single words are kept. Three
// kinds of entries are left out: those with a mark in brackets ("generic term", "similar term",
// "antonym", "underbegreb", "Oberbegriff", or a remark on the use), since they are not plain synonyms; those of
// several words or with punctuation; and one-letter words (symbols and Roman numerals, which would
// pair "i" with "one"). Words are compared by folded form; pairs are symmetric; two words under the
// same head are not a pair.
//
// Goals: the same file from the same sources, whatever their order.
// Non-goals: senses, parts of speech, chains of synonyms.
package lexicon
