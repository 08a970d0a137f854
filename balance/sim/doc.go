// Package sim runs the real cores of package balance (Mapper, Distributor,
// strategies) with simulated slaves, masters, database, network and load, in
// simulated time. One goroutine takes one event after another off a queue; the
// same Config gives the same run, to the last message.
//
//   - Run: a cluster under a trace of queries, for comparing strategies; gives
//     time series (load, weight and moves by slave, cost of queries).
//   - Play: a Scenario, a list of faults with their times, with all promises
//     checked after every event (checks.go). Generate makes one of a seed,
//     Shrink makes a failing one shorter, and it is text that can be kept.
//
// What is simulated and how:
//
//   - A process (slave, distributor, balancer, master) has what is durable,
//     which outlives a crash, and the rest, which does not. A slave's disk
//     changes by whole buckets; the balancer's state when its save is done.
//   - A connection keeps its order, delays, and loses nothing but what a crash
//     or a cut loses; connections know nothing of each other.
//   - A query takes each slave's time by what its items cost there; a slave does
//     one thing after another.
//
// What is excused: an answer may lack a part of the ring only when the slave
// that serves this part was itself unwell during the query (checks_excuse.go).
//
// Goals: the same core code as in production, thousands of histories a minute,
// failures that replay. Non-goals: RocksDB, gRPC, the search itself. So targeting
// and block lists do not matter here: targeting is bytes of the records of campaigns
// and groups, which arrive whole or not at all and which certificates compare, and no
// block list is moved. Packages audit and faults judge answers by them.
package sim
