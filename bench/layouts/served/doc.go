// Package served is the product's own search as a layout: barrels in RocksDB, built as
// `adshard barrels build` builds them and searched as a slave searches them.
//
// Served finds all matches with exact counts; ServedTop stops as soon as the best are certain,
// like a slave without exact counts. Keywords are broad and enabled, in campaigns without a
// language that has a stemmer, and the profile is capped at identical words, so that a keyword
// matches as package layouts says. Requests have four places, no reserve, and the device
// desktop. A group has one ad.
//
// What the master does once for all slaves (from words to terms) is in Query.Expanded and is
// not part of a search; other layouts also get separate words. ServedExpanded does it within
// each search. ServedMixed has keywords of all match types, and negatives.
//
// Non-goals: the network, feeds, the ring of slaves.
package served
