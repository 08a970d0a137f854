// Package up has the commands that make stores on this machine: a whole
// cluster, and stores built offline.
package up
