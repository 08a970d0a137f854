// Package data reads and changes advertisers' data for the admin port of a balancer
// (docs/data.md): single entities, pages of them, batches, the log of changes, an export.
//
// A change is one transaction: it locks the rows that it names, reads them in a snapshot, compares
// ETags, looks for the receipt of an earlier request with the same key, writes, notes its own
// receipt and commits. Values are checked by the rules of imports (package ingest).
//
// Goals: nothing is changed twice, or by a client that has seen another state; bounded memory and
// time for every request. Non-goals: queries over the data, renaming, access rights.
package data
