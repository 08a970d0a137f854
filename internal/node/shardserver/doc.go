// Package shardserver serves a store to masters: the gRPC service Slave.
//
// Searches under way are limited; what is beyond the limit is refused at once
// with fault.Overloaded, so that those under way stay fast. A search that
// panics is a fault.Internal and is counted; the process continues.
//
// Goals: a deadline on every search; nothing queued. Non-goals: what is
// searched, and how.
package shardserver
