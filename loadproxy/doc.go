// Package loadproxy is the part of a slave that talks to the balancer: it
// registers, pulls node data, applies each bucket exactly once to the slave's
// store and says how the slave fares.
//
// A bucket is a half-open range of log positions; the store keeps its end in
// the same batch as the data, so whatever crashes, a pull goes on from what was
// really applied. Nothing is dropped and nothing is held: a bucket that could
// not be applied is pulled again.
//
// After the first registration the slave counts as incomplete until it has
// reached the position that the balancer named. Without a balancer it serves
// what it holds: at once when it has served before, after a grace time at its
// start, unless a balancer refused it. What the balancer says is of no use
// (another database's, another plan's) is not served until it was reset.
//
// Goals: never to stand in the way of a query; to go on by itself when the
// balancer, the network or room on the disk comes back. Non-goals: deciding
// what a slave holds; counting load (it will report it once slices move).
package loadproxy
