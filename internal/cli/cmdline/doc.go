// Package cmdline has what all programs have in common: streams, the exit statuses of serving.md §9, flags for each
// key of a configuration, environment variables, logs. A program makes its command, with Serve if it is a server, and
// passes it to Main.
package cmdline
