// Package stream carries the searches of a master to a slave over one long-lived stream: many at a time, with answers
// in any order. docs/stream.md describes the protocol, and what each peer can do to the other and how that is bounded.
//
// Client keeps a stream open. Asks that come while the first stream is being opened wait for it, and are refused while
// none can be opened. Server serves the streams of a slave. Both send through an outbox, which sends all that is
// queued as one frame. Neither knows gRPC: a Pipe carries the frames.
//
// Goals: all searches under way share the cost of a message; no delay and no timer for each search; whatever a peer
// does, the memory that it can make the other use is bounded. Non-goals: which slave is asked, repeating a search, how
// a slave searches.
package stream
