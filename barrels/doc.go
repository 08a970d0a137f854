// Package barrels keeps the groups of one slave and searches them.
//
// A Store applies buckets of node data, each in one atomic batch together with
// the end of its range of log positions, and answers searches from one
// snapshot of all that it holds. It is a search.Searcher and search.Explainer.
// barrels/rocks keeps it in RocksDB, barrels/memory in memory; barreltest is
// the conformance suite of both. The bytes on disk are described in
// docs/format.md.
//
// Groups lie in slices that come and go: a table says which intervals of keys
// the store has, and in which views it serves them. Certify sums what searches
// read of an interval, so that two stores and the source can be compared.
// TakeLoad tells what searches have cost, from a sample of them.
//
// Keywords are anchored at the rarest of their words and lie some 128 to a
// block, in key order, with an upper bound of the score that the block can
// reach (design.md, "Barrels"). What searches ask for again and again stays in
// memory in the form in which they use it (termList, termBlock, judgement, shown),
// exact for the state that asks; docs/decisions/010 says what each form brings.
// Parents (campaigns, advertisers) are records
// of their own. No handle of RocksDB and no slice pinned by it leaves
// barrels/rocks.
package barrels
