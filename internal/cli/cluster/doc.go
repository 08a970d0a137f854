// Package cluster has the operator's commands that ask a running cluster, over
// HTTP: how it is, what it answers, what moves, and the data in it.
package cluster
