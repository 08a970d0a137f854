// Package up has the commands that make stores on this machine: for a whole cluster, and offline.
package up
