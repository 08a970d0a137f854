// Package shardserver serves a store to masters: the gRPC service Slave.
//
// Searches pass a gate (package overload): what would have to wait too long is refused
// at once with fault.Overloaded, so that those under way stay fast. A search that
// panics is a fault.Internal and is counted; the process continues.
//
// Goals: a deadline on every search; nothing queued beyond its time. Non-goals: what is
// searched, and how.
package shardserver
