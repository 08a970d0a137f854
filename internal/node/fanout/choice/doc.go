// Package choice decides which replicas of a shard are asked: which one first, which one if the
// first does not serve, and which one in addition if the first takes too long.
//
// Presence tracks whether a replica is there at all; Replica adds how much it has to do and how
// long it takes; Set holds the replicas of a shard in one map, which share the Shard's budgets and
// its usual time. Topics finds what a query is about, so that replicas keep different parts of the
// data in their caches.
//
// The package handles events and uses no network, clock or goroutine: callers pass in times,
// counted from any fixed moment, and random numbers.
//
// Goals: a replica that is slow, hung, broken or behind affects few queries; whatever replicas do,
// a shard is not asked much more often than there are queries. Non-goals: which replicas there are;
// whether an answer is true.
package choice
