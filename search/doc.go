// Package search is the contract of a search and the rules of what matches.
//
// It holds the words of a query and how well words agree (levels), match types as data (profiles),
// the expansion of a query to the terms by which keywords are found, the matching of one keyword
// (Matcher), the best hits of distinct owners (Top), and the Searcher contract that a store, the
// client of a slave and the master's fan-out all implement. Text itself (folding, stems, synonyms)
// is package search/words, corrections of misspelt words are package search/spelling; how a store is
// searched is in package barrels/query; the slow implementation that all others are compared with is
// internal/oracle.
//
// To add a property of match types, extend Rule (profile.go), the shape that it gives (shape.go),
// the pairs that explain it (pairs.go), its key in files of profiles
// (internal/node/master/profile.go), Rule in search.proto with its codec (internal/node/wire), and
// the oracle (internal/oracle/match.go).
//
// A keyword is found by its anchor: one of its terms, chosen when the keyword is written. A term is
// a 64-bit hash of a language and the stem of a folded word in it (words.Term). A query is expanded
// once, at the master; slaves see hashes only. docs/search.md describes the whole process.
//
// A request for an explanation may name keywords (Wanted), even ones that do not match. Each of
// them that is served gets the first verdict that applies: not enabled, no ad, no budget,
// throttled, its words do not match (Mismatch), no bid, device, reserve, negative, lost, won.
// Whatever the verdict, the Matcher that searches use decides whether the keyword matches and which
// words are the reason. A keyword that is missing from the explanation may be in a slice that did
// not answer; the width says whether there are any such slices.
//
// Goals: exact answers (everything has a slow oracle). Non-goals: storage, networks, money — only
// package auction knows what scores mean.
package search
