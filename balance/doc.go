// Package balance decides which node (slave) serves which items, carries them
// there and moves them while queries run. It knows items by their keys only; it
// does not know ads, gRPC or the time of day. Its cores are deterministic state
// machines: messages and time go in, messages come out; they start no
// goroutine, read no clock and are for one goroutine at a time (or one lock).
//
//   - Model: slices tile the ring; each is served by one node in each view. It
//     is immutable; an Edit makes the next one out of it.
//   - Strategy: makes the first plan and proposes splits, merges and moves
//     (package strategy). The mapper checks what it proposes.
//   - LoadTable: what queries cost each slice, as nodes report it; with it go
//     the bounds that no placement of these items can beat.
//   - Mapper: takes what slaves, masters, distributors and operators say, and routes it between
//     six machines. Each has state of its own and is tested alone; all read the cluster (the
//     newest model, the items, what slaves reported), which the mapper keeps.
//   - views: has every new model saved before it is sent, stamps quanta with the clock of the
//     last change it saw (thesis 6.3.3; docs/sources.md), and publishes views.
//   - planner: runs the strategy and decides, within the budget, what is to move.
//   - moves: drives each move to its end.
//   - membership: which slaves are replicas of which shards.
//   - orders: accepts or refuses what operators order, and executes it with the next change.
//   - verifier: compares what slaves hold with the source of truth.
//   - Distributor: follows changes and quanta, asks for items to be built and
//     puts them into bounded buckets, each a half-open range of log positions
//     (thesis 6.3.4 to 6.3.9, algorithm 3). There may be many; any may serve
//     any node.
//
// # Moves
//
// Holding a slice and serving it are two things. The mapper numbers the states of the slice
// map: view 1, 2, 3 … A query carries its master's view; a node serves no view
// above the newest it has received (Table.View) and none below Table.Least. A
// slice moves from A to B in four steps (make before break):
//
//  1. Start: the slice is locked; B is filled; from now on changes of its items
//     go to A and B.
//  2. When B has everything, what searches read is certified on A, on B and in the
//     source of truth, part by part and bin by bin; parents are compared one by
//     one. What differs because it changed meanwhile is compared again, in smaller
//     parts. Any other difference that shows twice cancels the move.
//  3. Switch: durably, B serves from the next view on. Once all nodes that are
//     alive know the view, masters get it.
//  4. Finish: when every master has it, or its lease has expired, and the longest
//     query has ended, A refuses older views and deletes its copy.
//
// # Scrubbing
//
// What nodes serve is compared with the source of truth continuously, in the same
// way, slice after slice over the whole ring, at a limited rate. A node that differs
// twice is ordered to discard the slice: it stops serving it and removes it from its
// table, so that it is filled again like any slice that the model gives the node and
// the node lacks.
//
// The next bucket of a node is a function of the node's position and table, of
// the changes after the position and of the model. So nothing about a node needs
// to be durable here: any distributor can continue from the node's position.
//
// Goals: no planned operation takes an item out of service, and every query
// sees every item exactly once; each change is applied exactly once, whatever
// is killed when; memory bounded by configuration; the same input gives the
// same output. Non-goals: ads, networks, disks.
package balance
