// Package choice decides which replica of a shard is asked: the first one, another
// one when the first does not serve, and a second one when it takes too long.
//
// Presence is whether a replica is there at all; Replica adds how much it has to do
// and how long it takes; Set is the replicas of a shard in one map, which share the
// Shard's budgets and its usual time. Topics finds what a query is about, so that
// replicas keep different parts of the data in their caches.
//
// It takes events and uses neither network, clock nor goroutine: times, since any
// fixed moment, and random numbers come in.
//
// Goals: a replica that is slow, hung, broken or behind costs few queries anything;
// whatever replicas do, a shard is not asked much more often than there are queries.
// Non-goals: which replicas there are; whether an answer is true.
package choice
