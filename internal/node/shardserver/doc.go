// Package shardserver serves a store to masters: the gRPC service Slave.
//
// Searches pass a gate (package overload): a search that would have to wait too long is refused at
// once with fault.Overloaded, so that those under way stay fast. A search that panics returns
// fault.Internal and is counted; the process continues.
//
// Goals: a deadline on every search; no search queued beyond its deadline. Non-goals: the contents
// of the store, and how they are searched.
package shardserver
