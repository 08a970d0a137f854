// Package layouts holds the ways in which keywords can lie so that those that
// match a query are found: the question of the master thesis' first experiment
// (Balancing Keyword-Based Data and Queries, chapter 7). Each way is a Layout,
// built from the same Set and asked the same Queries; other systems that do the
// same are layouts as well (bench/peers).
//
// A keyword matches a query when each of its words is one of the query's: the
// match type broad, words compared as normalised, nothing else between words.
// Matches are counted; a layout that has to fetch a keyword's record to go on
// with it does so, because that is what a slave does with a match.
//
// Sets come from a corpus (FromCorpus) and are kept in files (Save, Load); some
// are bad on purpose (SharedWord, OnlyCommon, OneAdvertiser). What they are asked
// is made by package setups.
//
// Goals: the same work for all, nothing measured that was not first shown to be
// right (layouttest compares each layout with an oracle); each layout the best
// that its idea can be, its tuning said in its doc comment. Non-goals: ad groups
// that are paused, negatives, other match types; the product's own tests have
// them.
package layouts
