// Package cluster has the known state of a cluster: the newest durable model, the items, the clock, and what
// each slave last reported. The mapper keeps it up to date; the machines that the mapper connects read it.
// The machines write to a Journal: events, troubles, and the last decisions about each slice.
package cluster
