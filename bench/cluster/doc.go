// Package cluster runs a cluster of real processes on this machine for a
// measurement, each with an admin port of its own, and reads what they say of
// themselves: the balancer's status, metrics, memory.
//
// Non-goals: restarting what ends, clusters on other machines.
package cluster
