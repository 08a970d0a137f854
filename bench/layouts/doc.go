// Package layouts holds ways to store keywords so that those that match a query
// are found: the question of the master thesis' first experiment (Balancing
// Keyword-Based Data and Queries, chapter 7). Each way is a Layout, which is
// built from the same Set and asked the same Queries. Other systems that do the
// same are layouts as well (bench/peers).
//
// A keyword matches a query if each of its words is one of the query's words:
// this is the match type broad, with words compared after normalisation and no
// other relations between words. Matches are counted. A layout that has to fetch
// the record of a matching keyword does so, because that is what a slave does
// with a match.
//
// Sets come from a corpus (FromCorpus) and are kept in files (Save, Load). Some
// are hard on purpose (SharedWord, OnlyCommon, OneAdvertiser). Package setups
// makes the queries.
//
// Goals: all layouts do the same work; nothing is measured that was not first
// shown to be correct (layouttest compares each layout with an oracle); each
// layout is as good as its idea permits, with its tuning explained in its doc
// comment. Non-goals: paused ad groups, negatives, other match types; the
// product's own tests cover them.
package layouts
