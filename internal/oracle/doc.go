// Package oracle answers searches by comparing every keyword: a slow, independent
// implementation of serving.md §1 to §5 and §10 to §16 that the fast one is tested against.
//
// It works on strings. It has no hashes of words, no terms, indexes, blocks, shards or bounds. With package search it
// shares only names (levels, match types, profiles, verdicts), and with package words only the splitting and the
// stems.
//
// Goals: each clause of the page can be recognised in the code. Non-goals: answering a query faster than in some
// milliseconds on tens of thousands of keywords.
package oracle
