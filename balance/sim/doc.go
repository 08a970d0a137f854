// Package sim runs the real machines of package balance (Mapper, Distributor,
// strategies) in simulated time, with simulated slaves, masters, database, network and
// load. One goroutine takes one event after another from a queue. The same Config gives
// the same run, to the last message.
//
//   - Run simulates a cluster under a trace of queries, to compare strategies. It
//     returns time series (load, weight and moves by slave, cost of queries).
//   - Play runs a Scenario, which is a list of faults with their times, and checks all
//     promises after every event (checks.go). Generate makes a scenario from a seed,
//     and Shrink makes a failing one shorter. A scenario is a text that can be kept.
//
// What is simulated, and how:
//
//   - A process (slave, distributor, balancer, master) has durable data, which survive
//     a crash, and other data, which do not. A slave's disk changes by whole buckets;
//     the balancer's state changes when a save is done.
//   - A connection keeps the order of messages, delays them, and loses only those that
//     a crash or a cut makes it lose. Connections are independent of each other.
//   - A query takes time on each slave, by the cost of the items there. A slave does
//     one thing at a time.
//
// An answer may lack a part of the ring only if the slave that serves this part was
// itself unwell during the query (checks_excuse.go).
//
// Goals: the same code as in production, thousands of histories per minute, failures
// that can be replayed. Non-goals: RocksDB, gRPC, the search itself. So targeting and
// block lists do not matter here. Targeting is a part of the records of campaigns and
// groups, which arrive whole or not at all and which certificates compare. Block lists
// are not moved. Packages audit and faults check answers for both.
package sim
