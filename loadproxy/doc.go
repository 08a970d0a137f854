// Package loadproxy is the part of a slave that talks to the balancer and to
// its distributor: it registers, pulls node data, applies each bucket exactly
// once to the slave's store, and reports how the slave fares, which slices it
// holds and what queries cost it.
//
// A bucket is a half-open range of log positions; the store keeps its end in
// the same batch as the data, so whatever crashes and whichever distributor
// serves, a pull goes on from what was really applied. Nothing is dropped and
// nothing is held: a bucket that could not be applied is pulled again.
//
// The balancer says which distributor serves the slave. Where none of the two
// answers the slave asks both again and again: a distributor goes on without a
// balancer, and a balancer names another distributor.
//
// After the first enlisting the slave counts as incomplete until it has reached
// the clock that its distributor named. When nobody feeds it, it serves what it
// holds: at once when it has served before, after a grace time at its start,
// unless it was refused (its data are another database's, or another slave has
// its name). What is of no use (another database's, another plan's) is not
// served until it was reset.
//
// Goals: never to stand in the way of a query; to go on by itself when the
// balancer, a distributor, the network or room on the disk comes back.
// Non-goals: deciding what a slave holds; counting load, which the store does.
package loadproxy
