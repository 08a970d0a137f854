// Package barrels is the store of one slave, on a key-value store that its caller
// opens (barrels/rocks, barrels/memory): it applies buckets of node data, answers
// searches, certifies what it holds, discards what is damaged, and maintains itself.
//
// A bucket is applied in one atomic batch together with its last log position. A search reads one
// snapshot of all data. The store is a search.Searcher and search.Explainer; barreltest is its
// conformance suite. docs/format.md describes the bytes on disk, docs/search.md how a query is
// answered.
//
// The layers below, each of which imports only those before it: kv (the contract
// with the key-value store), block, record and page (codecs), index (snapshots and
// caches), load (what searches cost), query (searches and explanations); memory and
// rocks implement kv, certify is the arithmetic of certificates, bulk the offline
// build.
//
// A table says which slices (intervals of keys) the store has, and in which views it serves them.
// Certify sums what searches read of an interval, so that two stores and the source can be
// compared. Keywords are anchored at the rarest of their words and stored some 128 to a block, in
// key order. Parents (campaigns, advertisers) are separate records.
package barrels
