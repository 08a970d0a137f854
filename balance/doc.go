// Package balance decides which slave serves which items and carries them
// there. It knows items by their keys only: not ads, not gRPC, not the time of
// day. Its cores are deterministic state machines: messages and time go in,
// messages come out; they start no goroutine and read no clock.
//
//   - Model: slices tile the ring; each is served by one node in each view.
//   - Strategy: makes the first plan and later changes (package strategy).
//   - Mapper: keeps the model, runs the strategy, stamps quanta (thesis 6.3.3).
//   - Distributor: follows changes and quanta, asks for items to be built and
//     puts them into bounded buckets, each a half-open range of log positions
//     (thesis 6.3.4 to 6.3.9).
//
// This is the first part: the initial plan, filling and following. Moves
// under load build on the same model, views and positions.
package balance
