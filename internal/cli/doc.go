// Package cli is the commands of serving.md §9: flags, configuration files,
// tables, progress, exit statuses. The work of a command is
// done in the packages that it calls.
//
// Goals: help that teaches by examples, errors that say what to do, output
// that scripts can rely on. Non-goals: algorithms, wire formats.
package cli
