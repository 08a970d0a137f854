// Package balance decides which shard serves which items, sends items to slaves, and moves
// them while queries run. Its types are the model and the messages about it: begin with a
// Model, change it with an Edit, and send the difference as a Quantum. The packages below are
// state machines. Messages and times go in, and messages come out. They start no goroutines
// and read no clock, and only one goroutine at a time may use them.
//
//   - Model: slices that tile the ring; each slice is served by one shard in each view. A
//     model is immutable.
//   - Table: the slices of the model that a slave holds.
//   - Strategy: makes the first plan, and proposes splits, merges and moves (package
//     strategy). The mapper checks proposals.
//   - Package load: the cost of queries for each slice, as slaves report it.
//   - Package mapper: keeps the model. It connects packages maps, plan, verify, transfer and
//     replicas, all of which read package cluster.
//   - Package delivery: follows changes and quanta, and puts items into buckets for slaves.
//
// # Moves
//
// A slave may hold a slice without serving it yet. The mapper numbers the states of the slice
// map: view 1, 2, 3 … A query carries the view of its master. A slave serves no view above the
// newest that it has received (Table.View) and none below Table.Least. A slice moves from
// shard A to shard B in four steps (make before break):
//
//  1. Start: the slice is locked and B is filled. From now on changes of its items go to A
//     and B.
//  2. When B has everything, what searches read is certified on A, on B and in the source of
//     truth, part by part and bin by bin; parents are compared one by one. What differs
//     because it changed meanwhile is compared again, in smaller parts. Any other difference
//     that shows twice cancels the move.
//  3. Switch: durably, B serves from the next view on. Once all slaves that are alive know
//     the view, masters get it.
//  4. Finish: once every master has the view or its lease has expired, and the longest query
//     has ended, A refuses older views and deletes its copy.
//
// # Scrubbing
//
// All data that slaves serve are compared with the source of truth, slice after slice over the
// whole ring, continuously and at a limited rate. A slave that differs twice must discard the
// slice: it stops serving the slice and removes it from its table. Then the slice is filled
// again, like any slice that the slave lacks.
//
// The next bucket for a slave depends only on the slave's position and table, the changes
// after the position, and the model. So no state about a slave needs to be durable here, and
// any distributor can continue from the slave's position.
//
// Goals: no planned operation takes an item out of service; every query sees every item
// exactly once; each change is applied exactly once, whatever is killed when; memory is
// bounded by the configuration; the same input gives the same output. Non-goals: ads,
// networks, disks, the time of day. Items are known only by their keys.
package balance
