// Package onestore measures searches of one store: one goroutine, queries in
// their order, expansion and search timed apart.
//
// Non-goals: the network, the auction's last step at the master.
package onestore
