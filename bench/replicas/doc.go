// Package replicas measures the choice of a replica with stores in this process: how
// much topics reduce the reading of posting lists if each replica caches a part of the
// data, and what hedges do to the slowest answers.
//
// Non-goals: the network; replicas that fail.
package replicas
