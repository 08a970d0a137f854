// Package esdb repeats, in simulated time, the experiments of the paper on ESDB (2022) that
// compare three ways to route the writes of tenants to shards (§6.2.1 to §6.2.3 and §6.3.1):
// figures 10 to 14 and 16.
//
// The policies are those of §2.2 and §4: hashing by tenant; double hashing, which spreads each
// tenant over 8 shards; and dynamic secondary hashing, whose rules spread tenants as far as
// their share of storage and writes requires. Rules are a list that only grows. Each takes
// effect at a future time, and is prepared and committed or aborted by every router (§4.3). Of
// the rules that apply to a record, the one with the largest spread counts, so that nothing is
// moved and an update finds its record.
//
// What the paper leaves open is chosen here: its functions ComputeOffsetSize and CheckHotSpot
// are "manual" (a tenant is spread over the smallest power of 2 of shards for which no shard
// has more than two shards' share of all), and only the sizes of the cluster are known. The
// model is:
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
// Goals: the same seed gives the same figures; all nodes, clients and messages in one sequence
// of events. Non-goals: Lucene, disks, isolation of hot writers and batching (§3.1), physical
// replication (§5.2).
package esdb
