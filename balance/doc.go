// Package balance decides which shard (slave) serves which items, carries them
// there and moves them while queries run. It knows items by their keys only; it
// does not know ads, gRPC or the time of day. Its cores are deterministic state
// machines: messages and time go in, messages come out; they start no
// goroutine, read no clock and are for one goroutine at a time (or one lock).
//
//   - Model: slices tile the ring; each is served by one shard in each view. It
//     is immutable; an Edit makes the next one out of it.
//   - Table: what a slave holds of it.
//   - Strategy: makes the first plan and proposes splits, merges and moves
//     (package strategy). The mapper checks what it proposes.
//   - Package load: what queries cost each slice, as slaves report it.
//   - Package mapper: keeps the model by means of packages maps, plan, verify, transfer and replicas, which read package
//     cluster.
//   - Package delivery: follows changes and quanta, and puts items into buckets for slaves.
//
// # Moves
//
// Holding a slice and serving it are two things. The mapper numbers the states of the slice
// map: view 1, 2, 3 … A query carries its master's view; a shard serves no view
// above the newest it has received (Table.View) and none below Table.Least. A
// slice moves from A to B in four steps (make before break):
//
//  1. Start: the slice is locked; B is filled; from now on changes of its items
//     go to A and B.
//  2. When B has everything, what searches read is certified on A, on B and in the
//     source of truth, part by part and bin by bin; parents are compared one by
//     one. What differs because it changed meanwhile is compared again, in smaller
//     parts. Any other difference that shows twice cancels the move.
//  3. Switch: durably, B serves from the next view on. Once all shards that are
//     alive know the view, masters get it.
//  4. Finish: when every master has it, or its lease has expired, and the longest
//     query has ended, A refuses older views and deletes its copy.
//
// # Scrubbing
//
// What shards serve is compared with the source of truth continuously, in the same
// way, slice after slice over the whole ring, at a limited rate. A shard that differs
// twice is ordered to discard the slice: it stops serving it and removes it from its
// table, so that it is filled again like any slice that the model gives the shard and
// the shard lacks.
//
// The next bucket of a shard is a function of the shard's position and table, of
// the changes after the position and of the model. So nothing about a shard needs
// to be durable here: any distributor can continue from the shard's position.
//
// Goals: no planned operation takes an item out of service, and every query
// sees every item exactly once; each change is applied exactly once, whatever
// is killed when; memory bounded by configuration; the same input gives the
// same output. Non-goals: ads, networks, disks.
package balance
