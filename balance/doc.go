// Package balance decides which node (slave) serves which items and carries
// them there. It knows items by their keys only: not ads, not gRPC, not the
// time of day. Its cores are deterministic state machines: messages and time
// go in, messages come out; they start no goroutine, read no clock and are for
// one goroutine at a time (or one lock).
//
//   - Model: slices tile the ring; each is served by one node in each view.
//     It is immutable; an Edit makes the next one out of it.
//   - Strategy: makes the first plan and later changes (package strategy).
//   - Mapper: keeps the model and the index of items, runs the strategy, has
//     every new model saved before it is sent, stamps quanta with the clock of
//     the last change it saw (thesis 6.3.3).
//   - Distributor: follows changes and quanta, asks for items to be built and
//     puts them into bounded buckets, each a half-open range of log positions
//     (thesis 6.3.4 to 6.3.9, algorithm 3).
//
// The next bucket of a node is a function of the node's position, of the
// changes after it and of the model. So nothing about a node need be durable
// here: whichever distributor it asks goes on where the node stands.
//
// Goals: each change is applied exactly once, whatever is killed when; memory
// bounded by configuration; the same input gives the same output. Non-goals so
// far: moving a slice that is served, load, several distributors. They build
// on the same model, views, quanta and positions.
package balance
