// Package wire translates between the system's own types and gRPC: requests,
// answers and explanations to and from package pb, fault kinds to and from
// statuses, and the options that every client and server of the cluster uses.
//
// Goals: an error's kind, operation and field survive the wire and are never
// found out from a text; a call without a deadline is refused; what comes in
// is checked before it is used (number of words, levels, devices, slots); no
// text and no list exceeds its bound (bounds.go), which is checked before a
// message is decoded.
//
// Searches, their answers and the frames that carry them are encoded by hand (*_codec.go),
// and held against generated code by tests. Of all three the frames alone, generated, cost
// 28 µs more for a query of three slaves (BenchmarkFanout: 54 to 82 µs of processor time,
// twenty pairs), where a whole answer costs 210.
//
// Non-goals: retries, choice of a peer, encryption.
package wire
