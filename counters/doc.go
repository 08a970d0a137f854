// Package counters keeps values that many clients update at once, such as the votes on a
// question, in parts, so that updates do not conflict: after AutoShard (Scherzinger and
// Thor, WebDB 2014; Thor and Scherzinger, "Operating the Cloud" 2014).
//
// A counter is declared, not programmed. A Kind says what its values are: the neutral value, and
// how two parts are folded into one. An update is a function of a value. It is applied to only one
// part, which gives the right total if Check finds no counterexample. A Mode says how many parts
// there are:
//
//   - Static(n): n shards; an update reads a shard chosen at random and writes it back.
//   - Dynamic: each update adds a part of its own, so updates never conflict; Compact folds the
//     parts.
//   - Adaptive: like Static, but a Rule changes the number of shards by the puts and conflicts
//     seen.
//
// A Log is an entity group in parts: each entry is appended to one part, and a read returns the
// union of all parts. Package gen generates all this from struct tags.
//
// # What is stored
//
// The store (package store) has these records of a counter under its name: a head, shards and, if
// the counter is dynamic, rows. The head has the value folded so far, the epoch and the number of
// shards. The total is the head's value folded with the shards and rows of the same epoch. Every
// update puts its part in a batch that also checks that the head is unchanged. Therefore:
//
//   - Set is one put of the head with the next epoch. All parts of the epoch before stop counting
//     at once, however many there are. No update under way is lost with them: its write fails, and
//     it tries again.
//   - Resize is also one put of the head. Shards beyond the new number still count; Compact folds
//     them at leisure, since they are not updated again.
//   - Compact puts the head with the parts folded into it and deletes these parts, in one batch. A
//     crash at any step neither loses nor doubles a count.
//
// # Contracts
//
// Update, Value and Set are linearizable: a counter behaves like one value under one lock. Every
// part counts, whatever the mode: processes that use different modes or numbers of shards may
// share a counter.
//
// If a write is not answered, for instance because a connection broke, its update is settled by
// id. First a put of the head fences the write: if it has not been made by then, it never will be.
// Then the id is looked up in the parts, each of which remembers its last updates. So a retry is
// exact. The outcome remains unknown, and the error is *Unknown, if the store stays away, the
// caller's context ends, or too many other updates come in between. All other errors mean that the
// update has not been made. An id lasts for one call: an update that a program repeats after
// *Unknown, or after a crash, is a new update.
//
// Time plays no part in any of this: no clock is read and no time is stored. Ids and versions are
// random. Clocks may go back, and the clocks of two machines may differ by hours.
//
// # What it costs
//
// The store cannot filter counters by value, since a value is in parts. A read of a counter reads
// all its parts: this is the price of fewer conflicts. A dynamic counter gets slower to read with
// each update until it is compacted.
//
// Non-goals: atomic changes of several counters; updates that depend on the total, such as
// "unless there are no seats left".
package counters
