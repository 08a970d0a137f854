// Package bench holds the subcommands of adbench, which make data and measure.
// Product code does not import it.
package bench
