// Package words turns text into words: normalisation, folding, stems, synonyms
// and the hashes that stand for them (serving.md §1 and §2).
//
// Everything that its results depend on (Unicode tables, stemmers, thesaurus)
// has a version that stores carry: another version means reindexing.
package words
