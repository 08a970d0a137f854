// Package loadproxy is the part of a slave that talks to the balancer and to
// its distributor: it registers, pulls node data, applies each bucket exactly
// once to the slave's store, and reports the slave's state, its slices and
// what queries cost it.
//
// A bucket is a half-open range of log positions; the store keeps its end in
// the same batch as the data, so whatever crashes and whichever distributor
// serves, a pull continues from what was really applied. Nothing is dropped and
// nothing is buffered: a bucket that could not be applied is pulled again.
//
// The balancer says which distributor serves the slave. If neither
// answers, the slave keeps asking both: a distributor continues without a balancer,
// and a balancer names another distributor.
//
// After the first enlisting the slave counts as incomplete until it has reached
// the clock that its distributor named. Without a distributor it serves the data that
// it has: at once if it has served before, after a grace time at its start, unless
// it was refused (its data are of another database, or another slave has its name).
// Data of another database or plan are never served.
//
// Goals: never to delay a query; to continue by itself when the balancer, a
// distributor, the network or disk space is back. Non-goals: deciding which slices a
// slave has; counting load, which the store does.
package loadproxy
