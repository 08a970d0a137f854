// Package fanout asks all shards of a map at once and makes one answer of
// theirs: the master's search.Searcher and search.Explainer.
//
// Gather is the policy of one query (enough, too late, failed, ask again) and
// Presence that of one shard over time (ask it, probe it, leave it out), both
// without network or clock; Fanout carries them out; Watcher keeps the map that
// the balancer hands out; Client is a slave reached by gRPC.
//
// A shard that does not answer in time, or serves less than the map gives it,
// is named in Answer.Missing with the reason; it is no error. A shard that no
// longer serves the view asked for makes the fan-out ask all shards again,
// once, with a newer map. One that has stopped answering is not asked, so that
// nobody waits for it, until it answers a probe.
//
// Goals: answers within the deadline with what there is; nothing queued.
// Non-goals: prices, HTTP, hedging between replicas.
package fanout
