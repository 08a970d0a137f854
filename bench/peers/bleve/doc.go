// Package bleve finds matching keywords with Bleve: it is a peer for bench/layouts. Bleve has
// no percolator. Each keyword is a document, and the package uses Bleve's reader for what a
// percolator would do: look up postings by one word and verify them. Every keyword has a
// posting only under the rarest of its words.
//
// There are two layouts. Anchored is the natural one: a field with the rarest word, looked up
// for each word of the query, and a field with all words, whose doc values are compared. Terms
// is what an expert in this index would do: the keyword's words, the rarest first, are one
// term. A prefix search in the dictionary then lists the terms, with equal keywords only once,
// without decompressing doc values; only documents of matching terms are read. With 100,000
// keywords, it took a fifth of the processor time of Anchored.
//
// Tuning:
//   - The reader is used itself (index.IndexReader): a search request would build
//     a query tree, score and sort.
//   - The index is built offline (bleve.NewBuilder), which gives one segment, and
//     opened for reading only; the system maps it to memory.
//   - Documents lie in the order of their rarest words, so that postings of one
//     word have their doc values in the same chunk.
//   - No scores are prepared: fields have neither frequencies, norms, term vectors
//     nor stored values, doc values only where they are read, and no analysis.
//   - A searcher keeps its reader and works in the caller's goroutine.
//
// Bleve 2.6.1. Goals: Bleve as good as its reader is. Non-goals: changes while it is searched.
package bleve
