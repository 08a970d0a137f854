// Package certify is the arithmetic of certificates: bins of ring keys, and sums of keyed hashes of
// records. A slave sums what its searches read, the source of truth sums what they should read, and
// the balancer compares the two. All three import this package, so they cannot diverge.
//
// Non-goals: reading stores (package barrels), comparing (package balance).
package certify
