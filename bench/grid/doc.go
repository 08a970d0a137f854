// Package grid measures clusters with different grids of shards and replicas on this
// machine, in turns.
//
// Non-goals: several machines; what the figures mean for other machines (see
// internal/sizing).
package grid
