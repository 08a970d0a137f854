// Package cluster runs a cluster of real processes on this machine for a
// measurement, each with its own admin port, and reads what they report: the
// balancer's status, metrics, memory.
//
// Non-goals: restarting processes that end, clusters on other machines.
package cluster
