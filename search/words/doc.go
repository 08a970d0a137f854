// Package words turns text into words: normalisation, folding, stems, synonyms
// and the hashes that stand for them (serving.md §1 and §2).
//
// The way of a text: Split checks it (UTF-8, non-starters), normalises it to
// NFKC(casefold(NFKC(text))) and cuts it into words; each word has a folded
// form (without diacritics); a folded form has a stem in each language with a
// stemmer, and synonyms in a lexicon. An Analyser does the same with a bounded
// memory of words, for builders that see the same words again and again.
//
// Everything that its results depend on (Unicode tables, stemmers, lexicon
// format) is named in Version, which stores carry: another version means
// reindexing. The words of a lexicon file are pinned by Lexicon.Hash.
//
// To add a language: its code, Languages, HasStemmer and Stem (stem.go), a place for its
// terms (analyser.go), rules and Version (version.go), and its synonyms (package lexicon).
//
// Goals: exactly the words of serving.md; text in ASCII or precomposed Latin
// never enters golang.org/x/text. Non-goals: languages without spaces between
// words, spelling correction, compound words.
package words
