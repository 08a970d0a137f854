// Package cluster has what is known of a cluster: the newest durable model, the items, the clock, and
// what each slave last reported. The mapper keeps it up to date; the machines that it routes between read it.
// Journal takes what they report: events, troubles, and the last decisions about each slice.
package cluster
