// Package loadproxy is the part of a slave that talks to the balancer and to the slave's
// distributor. It registers the slave, pulls node data, applies each bucket exactly once to the
// slave's store, and reports the slave's state, its slices and the cost of queries.
//
// A bucket is a half-open range of log positions. The store writes the end of the range in the same
// batch as the data. So after a crash, or with another distributor, pulling continues from what was
// really applied. No bucket is dropped or buffered: one that could not be applied is pulled again.
//
// The balancer says which distributor serves the slave. If neither of them answers, the slave keeps
// asking both: a distributor works without a balancer, and a balancer can name another distributor.
//
// After its first registration with a distributor, the slave is incomplete until it has reached the
// clock that the distributor named. If no distributor answers, it serves the data that it has: at
// once if it has served before, otherwise after a grace time. It does not serve them if it was
// refused because its data are of another database or another slave has its name. It never serves
// data of another database or plan.
//
// Goals: never to delay a query; to resume by itself when the balancer, a distributor, the network
// or disk space is back. Non-goals: to decide which slices a slave has; to measure load, which the
// store does.
package loadproxy
