// Package master is the command line of the master.
package master
