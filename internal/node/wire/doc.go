// Package wire translates between the system's own types and gRPC: requests, answers and explanations to
// and from package pb, and fault kinds to and from statuses. It also has the options that every client and
// server of the cluster uses.
//
// Goals: an error's kind, operation and field survive the wire and never have to be guessed from a text; a
// call without a deadline is refused; incoming data is checked before it is used (number of words, levels,
// devices, slots); no text and no list exceeds its bound (bounds.go), which is checked before a message is
// decoded.
//
// Searches, their answers and the frames that carry them are encoded by hand (*_codec.go), and tests
// compare the result with generated code. With generated code for the frames alone, a query of three
// slaves took 82 instead of 54 µs of processor time (BenchmarkFanout, twenty pairs); a whole answer costs
// about 210 µs.
//
// Contexts and pages within searches are encoded by generated code, since few are large.
//
// To add a field to searches, change search.Request; search.proto; From- and ToRequest, with the field's
// bound (request.go); AppendRequest and parseRequest, with the reset of the pooled message
// (request_codec.go); and drawRequest of the tests, which then compare both codecs. A slave that does not
// know the field skips it. If its answers would then be wrong, raise Version (version.go).
//
// Non-goals: retries, choice of a peer, encryption.
package wire
