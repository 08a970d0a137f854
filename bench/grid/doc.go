// Package grid measures clusters of the same slaves in different grids of shards and
// replicas on this machine, in turns.
//
// Non-goals: several machines; what the figures mean for other machines, which is
// internal/sizing's.
package grid
