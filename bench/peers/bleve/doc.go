// Package bleve has Bleve find the keywords that match: a peer of bench/layouts.
// Bleve has no percolator; each keyword is a document, and what a percolator does
// is done with its reader: look up postings by one word, verify them. Every
// keyword has a posting under the rarest of its words only.
//
// Two layouts. Anchored is the natural way: a field with the rarest word, looked up for each
// word of the query, and a field with all words, whose doc values are compared. Terms is what
// an expert in this index would do: the keyword's words, the rarest first, are one term. A
// prefix of the dictionary then lists the postings, equal keywords once, without decompressing
// doc values; only documents of matching terms are read. It took a fifth of the processor time
// at 100,000 keywords.
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
// Bleve 2.6.1. Goals: Bleve as good as its reader is. Non-goals: changes while it
// is searched.
package bleve
