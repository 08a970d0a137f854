// Package words turns text into words: normalisation, folding, stems, synonyms
// and the hashes that stand for them (serving.md §1 and §2).
//
// A text goes through these steps: Split checks it (UTF-8, non-starters), normalises it to
// NFKC(casefold(NFKC(text))) and cuts it into words; one of a script without spaces is a run, with its units
// (AppendUnits); each word has a folded form (without
// diacritics); a folded form has a stem in each language with a stemmer, and synonyms in a lexicon.
// An Analyser does the same with a bounded memory of words, for builders that see the same words
// again and again.
//
// Everything that its results depend on (Unicode tables, stemmers, lexicon format) is named in
// Version, which stores carry: a store of another version must be reindexed. Lexicon.Hash
// identifies the words of a lexicon file.
//
// To add a language, add its code, extend Languages, HasStemmer and Stem (stem.go), add a place for
// its terms (analyser.go) and its synonyms (package lexicon), and raise rules and Version
// (version.go).
//
// Goals: exactly the words of serving.md; text in ASCII or precomposed Latin is handled without
// golang.org/x/text. Non-goals: dictionaries of languages without spaces between words, spelling
// correction, compound words.
package words
