// Package node holds the processes of a cluster, one in each package: balancer, distributor, slave,
// master and collector, and up, which runs all of them on one machine. The other packages here are
// shared by several of them.
//
// A process consists of configuration, listeners, gRPC services, HTTP servers and metrics around
// those packages. Its Run returns nil when its context is done; if it cannot continue, it returns
// an error that says what to do. When it listens, it prints its addresses, one on each line.
//
// Goals: the same code in one process, in child processes and on many machines, always with gRPC
// between the parts. Non-goals: algorithms.
package node
