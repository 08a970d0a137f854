// Package counters keeps values that many clients update at once, such as the votes on a
// question, in parts, so that updates do not conflict: after AutoShard (Scherzinger and
// Thor, WebDB 2014; Thor and Scherzinger, "Operating the Cloud" 2014).
//
// A counter is declared, not programmed. A Kind says what its values are: the neutral one, and how
// two parts are folded into one. An update is a function of a value. It changes only one part,
// which is right if Check finds no counterexample. A Mode says how many parts there are:
//
//   - Static(n): n shards; an update reads one of them, chosen at random, and puts it.
//   - Dynamic: each update adds a shard, which conflicts with nothing; Compact folds them.
//   - Adaptive: shards as with Static, their number by puts and conflicts (Rule).
//
// A Log is an entity group in parts: entries are appended to one partition, and read as
// the union of all. Package gen generates all this from struct tags.
//
// # What is stored
//
// Below a counter's name a store (package store) has a head, shards and, of dynamic
// counters, rows. The head is the counter's value as far as it has been folded, its epoch
// and its number of shards; the total is the head folded with the shards and rows of its
// epoch. Every update checks that the head is as it was read, in the batch that puts the
// part. Therefore:
//
//   - Set is one put of the head with the next epoch: all parts of the one before count no
//     more, at once, however many there are, and no update that began before is lost
//     among them.
//   - Resize is one put of the head as well. Shards beyond the number still count; Compact
//     folds them in at leisure, since nothing updates them any more.
//   - Compact puts the head with the parts folded in and deletes these parts, in one batch.
//     A crash at any step loses and doubles nothing.
//
// # Contracts
//
// Update, Value and Set are linearizable: a counter is like one value under one lock.
// Every part counts, whatever the mode: processes that use different modes or numbers of
// shards may share a counter.
//
// An update whose write was not answered, for instance because a connection broke, is settled by
// its id. A put of the head fences the write: if it has not been made, it never will be. Then the
// id is looked for in the parts, each of which remembers its last updates. So a retry is exact. If
// the store stays away, the caller's context ends, or too many updates came in between, the outcome
// is unknown, and the error is *Unknown. All other errors mean that the update has not been made.
// Ids end with the call: an update that a program repeats after *Unknown, or after a crash, is
// another update.
//
// Time plays no part in any of this: no clock is read, none is stored, ids and versions
// are random. Clocks may go back, and clocks of two machines may differ by hours.
//
// # What it costs
//
// The store cannot filter by a value, since it is in parts. Reading it reads all parts: their
// number is the price of fewer conflicts. A dynamic counter gets slower to read with each update
// until it is compacted.
//
// Non-goals: atomic changes of several counters; updates that depend on the total, such as
// "unless there are no seats left".
package counters
