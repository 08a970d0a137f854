// Package cluster has the operator's commands that query a running cluster over HTTP: its state, its answers, its
// moves, and its data.
package cluster
