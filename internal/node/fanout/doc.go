// Package fanout asks all shards of a map at once and merges their answers into one. It is the
// master's search.Searcher and search.Explainer.
//
// Package choice says which replicas are asked and which are left out, without network or clock;
// Watcher keeps the map that the balancer hands out; Client is a slave reached by gRPC.
//
// One replica of each shard is asked, and one answer for each shard is used. If a replica does not
// serve, another one is asked in its place; if it takes longer than most calls do, a second one is
// asked, too. If no replica of a shard answers in time, or the shard serves less than the map gives
// it, Answer.Missing names the shard with the reason; that is not an error. If a shard no longer
// serves the requested view, the fan-out asks all shards again, once, with a newer map.
//
// The Dialer decides which of two paths a search takes: within this process (Within), or over a
// stream (Streams). A replica without a stream is asked only if no other replica has one. Slaves in
// this process are asked one after the other as long as that takes hardly any time (line).
//
// A scatter is one query under way: its calls, the turn of each shard's replicas (which were asked,
// and the best answer so far), and the final answer of each shard (replies). A call that is traced,
// and a hedge, send a copy of the request with tags of their own (search.Tags).
//
// Goals: answers within the deadline, from whatever has arrived; nothing queued that could be under
// way. Non-goals: prices, HTTP.
package fanout
