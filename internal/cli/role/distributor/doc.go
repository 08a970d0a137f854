// Package distributor is the command line of the distributor.
package distributor
