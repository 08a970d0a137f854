// Package splitting repeats the experiments of Cruz, Maia, Oliveira and Vilaça, "Workload-aware
// table splitting for NoSQL", SAC 2014: figures 1 to 5 (§3.2), which follow a split key through
// 20,000 requests, and figures 6 and 7 (§4.2), in which a table is split between two nodes by
// size and by load.
//
// The estimates are those of package balance/splitkey, which the product uses. What the paper
// leaves open is varied or stated: the exponent of its Zipf distribution (0.99 here, as in
// YCSB), the first request, and the mean of its Poisson distribution (5,000). Keys are in the
// order of popularity, because only this order reproduces the paper's figures.
//
// §4.2 runs on two stores of the product's RocksDB (barrels/rocks) in one process. They take
// turns, so that each has the machine to itself, and are counted as if they worked at the same
// time. HBase, the network, waits for the disk and moves of records from one node to the other
// are not reproduced: each placement is made from scratch.
package splitting
