// Package backend is the source of truth: advertisers, campaigns, ad groups, keywords, negatives and ads (serving.md
// §6), and the feed of their changes.
//
// A Store writes entities in transactions and reads them; its Feed lists what
// changed, in the order of a clock that only grows and that is written in the
// same transaction as the change itself. backend/sqlite is the embedded
// implementation, backend/postgres the one on a server; backendtest is the
// conformance suite of both.
//
// Data that is read is compared with the sums that were stored when it was written. Damage describes a difference,
// and a Checker compares everything at once.
//
// Goals: a reader can stop at any time and resume; a committed change is never
// missing from the feed. Non-goals: queries over the
// data, statistics, spend.
package backend
