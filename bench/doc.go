// Package bench holds the subcommands of adbench: what makes data and what
// measures. Product code does not import it.
package bench
