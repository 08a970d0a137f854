// Package stream carries the searches of a master to a slave over one long-lived
// stream: many at a time, with their answers in any order. docs/stream.md has the
// protocol, and what a peer can do to the other and what bounds it.
//
// Client keeps a stream up; what is asked while the first one is opened waits for it, and
// is refused while none can be. Server serves the streams of a slave. Both send through an outbox, which sends what is
// queued as one frame, and neither knows gRPC: a Pipe carries their frames.
//
// Goals: the cost of a message is shared by all searches under way; no delay, no
// timer a search; whatever a peer does, what it makes the other keep is bounded.
// Non-goals: who is asked, repeating a search, how a slave searches.
package stream
