// Package replicas measures the choice of a replica on stores of this process: what
// topics save of reading posting lists when each replica caches a part of the data, and
// what hedges do to the slowest answers.
//
// Non-goals: the network; replicas that fail.
package replicas
