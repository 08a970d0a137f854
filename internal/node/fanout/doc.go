// Package fanout asks all shards of a map at once and makes one answer of
// theirs: the master's search.Searcher and search.Explainer.
//
// Package choice says which replica is asked and which are left out, without network or
// clock; Watcher keeps the map that the balancer hands out; Client is a slave reached by
// gRPC.
//
// One replica of each shard is asked, and one answer of a shard counts. If a replica does
// not serve, another one is asked in its place; if it takes longer than most, a second one
// is asked too. A shard of which none answers in time, or which serves less than the map
// gives it, is named in Answer.Missing with the reason; it is no error. A shard that no
// longer serves the view asked for makes the fan-out ask all shards again, once, with a
// newer map.
//
// A search takes one of two paths, by the Dialer: within this process (Within), or over a
// stream (Streams), without which a replica is asked only where no other has one. Slaves of
// this process are asked one after the other while that takes no time to speak of (line).
//
// A scatter is one query under way: its calls, the turn of each shard's replicas (which were
// asked, and the best answer so far), and what counts of each shard (replies). A call that is
// traced or a hedge sends a copy of the request with tags of its own (search.Tags).
//
// Goals: answers within the deadline with what there is; nothing queued that could be under way.
// Non-goals: prices, HTTP.
package fanout
