// Package node holds the processes of a cluster, each a package: balancer,
// distributor, slave and master, and up, which runs all of them on one machine.
// The packages beside them are what several of them share.
//
// A process is configuration, listeners, gRPC services, HTTP servers and metrics
// around the packages below. Its Run returns nil when its context is done, or an
// error that says what to do when the process cannot continue. When it listens it
// prints its addresses, one a line.
//
// Goals: the same code in one process, in child processes and on many
// machines, with gRPC between the parts in each case. Non-goals: algorithms.
package node
