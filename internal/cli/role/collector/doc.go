// Package collector is the command line of the collector.
package collector
