// Package barrels is the store of one slave, on a key-value store that its caller
// opens (barrels/rocks, barrels/memory): it applies buckets of node data, answers
// searches, certifies what it holds, discards what is damaged, and maintains itself.
//
// A bucket is applied in one atomic batch together with its last log position. A search reads one
// snapshot of all data. The store is a search.Searcher and search.Explainer; barreltest is its
// conformance suite. docs/format.md describes the bytes on disk, docs/search.md how a query is
// answered.
//
// The layers below are the following; each imports only those before it: kv (the contract with the
// key-value store), block, record and page (codecs), index (snapshots and caches), load (what
// searches cost) and query (searches and explanations). In addition, memory and rocks implement kv,
// certify is the arithmetic of certificates, and bulk is the offline build.
//
// A table says which slices (intervals of keys) the store has, and in which views it serves them.
// Certify sums what searches read in an interval, so that two stores and the source can be
// compared. Keywords are anchored at the rarest of their words and stored in blocks of about 128,
// in key order. Parents (campaigns, advertisers) are separate records.
package barrels
