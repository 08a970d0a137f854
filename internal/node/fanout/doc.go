// Package fanout asks all shards of a map at once and makes one answer of
// theirs: the master's search.Searcher and search.Explainer.
//
// Gather is the policy (enough, too late, failed, ask again) without network
// or clock; Fanout carries it out; Watcher keeps the map that the balancer
// hands out; Client is a slave reached by gRPC.
//
// A shard that does not answer in time is named in Answer.Missing; it is no
// error. A shard that no longer serves the view asked for makes the fan-out
// ask all shards again, once, with a newer map.
//
// Goals: answers within the deadline with what there is; nothing queued.
// Non-goals: prices, HTTP, hedging between replicas.
package fanout
