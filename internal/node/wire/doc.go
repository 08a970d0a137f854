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
// and tests compare them with generated code. Generated code for the frames only took a query of
// three slaves from 54 to 82 µs of processor time (BenchmarkFanout, twenty pairs); a whole answer
// costs about 210 µs.
//
// Contexts and pages within searches are encoded by generated code: few are large.
//
// To add a field to searches: search.Request; search.proto; From- and ToRequest, with its bound
// (request.go); AppendRequest and parseRequest, with the reset of the pooled message
// (request_codec.go); drawRequest of the tests, which then compare both codecs. A slave that does not know
// the field skips it. If it would then answer wrongly, raise Version (version.go).
//
// Non-goals: retries, choice of a peer, encryption.
package wire
