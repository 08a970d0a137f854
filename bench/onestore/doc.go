// Package onestore measures searches in one store: one goroutine, queries in
// their order, expansion and search timed separately.
//
// Non-goals: the network, the auction's last step at the master.
package onestore
