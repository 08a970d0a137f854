// Package balance decides which shard serves which items, carries items to its slaves and
// moves them while queries run. Its types are the model and what is exchanged about it: begin
// with a Model, change it with an Edit, and send the difference as a Quantum. The state
// machines are the packages below. Messages and time go in, messages come out; they start no
// goroutine and read no clock, and one goroutine (or one lock) uses them at a time.
//
//   - Model: slices tile the ring; each is served by one shard in each view. A model is
//     immutable.
//   - Table: what a slave holds of it.
//   - Strategy: makes the first plan and proposes splits, merges and moves (package
//     strategy). The mapper checks proposals.
//   - Package load: what queries cost each slice, as slaves report it.
//   - Package mapper: keeps the model. It routes between packages maps, plan, verify,
//     transfer and replicas, which read package cluster.
//   - Package delivery: follows changes and quanta, and puts items into buckets for slaves.
//
// # Moves
//
// To hold a slice is not yet to serve it. The mapper numbers the states of the slice map:
// view 1, 2, 3 … A query carries its master's view. A slave serves no view above the newest it
// has received (Table.View) and none below Table.Least. A slice moves from shard A to shard B
// in four steps (make before break):
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
// What slaves serve is compared with the source of truth continuously, slice after slice over
// the whole ring, at a limited rate. A slave that differs twice must discard the slice: it
// stops serving it and removes it from its table. Then it is filled again, as with any slice
// that it misses.
//
// The next bucket of a slave follows from its position and table, the changes after the
// position, and the model. So nothing about a slave needs to be durable here, and any
// distributor can continue from the slave's position.
//
// Goals: no planned operation takes an item out of service; every query sees every item
// exactly once; each change is applied exactly once, whatever is killed when; memory is bounded
// by configuration; the same input gives the same output. Non-goals: ads, networks, disks, the
// time of day. Items are known by their keys only.
package balance
