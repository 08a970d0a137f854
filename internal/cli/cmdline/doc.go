// Package cmdline is what all programs have in common: streams, exit statuses
// of serving.md §9, flags for each key of a configuration, variables of the
// environment, logs. A program makes its command, with Serve if it is a server,
// and gives it to Main.
package cmdline
