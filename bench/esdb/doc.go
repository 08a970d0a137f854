// Package esdb repeats, in simulated time, the experiments of the paper on ESDB (2022)
// that compare three ways to route the writes of tenants to shards (§6.2.1 to §6.2.3 and
// §6.3.1): figures 10 to 14 and 16.
//
// The policies are those of §2.2 and §4: hashing by tenant; double hashing, which spreads
// each tenant over 8 shards; and dynamic secondary hashing, whose rules spread tenants as far
// as their part of storage and writes asks for. Rules are a list that only grows; each takes
// effect at a time to come, is prepared and committed or aborted by every router (§4.3), and
// of those that apply to a record the one with the largest spread counts, so that nothing is
// moved and an update finds its record.
//
// What the paper leaves open is chosen here: its functions ComputeOffsetSize and CheckHotSpot
// are "manual" (a tenant is spread over the least power of 2 shards of which none has more than
// two shards' part of all), and of the cluster only the sizes are known. Its model consists of
// these:
//
//   - A write is executed by the node of its shard and then by that of the shard's
//     replica, the next node. Nodes execute one after another, 35,000 a second, so that
//     eight do 140,000 writes a second, the paper's most.
//   - Three clients have a queue each. Its first write waits while the node that it is
//     for has a window of writes of this client under way, and all others behind it wait
//     too ("the queue will be blocked", §3.1).
//   - Generators wait while the queue of their client is full, or never do.
//   - A shard does at most so many writes a second, or any number.
//
// Goals: the same seed gives the same figures; all nodes, clients and messages in one
// sequence of events. Non-goals: Lucene, disks, isolation of hot writers and batching
// (§3.1), physical replication (§5.2).
package esdb
