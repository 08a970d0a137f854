// Package loadproxy is the part of a slave that talks to the balancer and to
// its distributor: it registers, pulls node data, applies each bucket exactly
// once to the slave's store, and reports the slave's state, its slices and
// what queries cost it.
//
// A bucket is a half-open range of log positions. The store writes its end in the same batch as the
// data, so that after any crash, and with any distributor, pulling continues from what was really
// applied. Nothing is dropped or buffered: a bucket that could not be applied is pulled again.
//
// The balancer says which distributor serves the slave. If neither
// answers, the slave keeps asking both: a distributor continues without a balancer,
// and a balancer names another distributor.
//
// After its first registration with a distributor the slave counts as incomplete until it has
// reached the clock that the distributor named. Without a distributor it serves the data that it
// has: at once if it has served before, else after a grace time. It does not serve them if it was
// refused, because its data are of another database or another slave has its name. Data of another
// database or plan are never served.
//
// Goals: never delaying a query; resuming without help when the balancer, a distributor, the
// network or disk space is back. Non-goals: deciding which slices a slave has; counting load, which
// the store does.
package loadproxy
