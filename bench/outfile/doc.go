// Package outfile writes what the commands of adbench make: reports, pages,
// profiles, corpora.
//
// Goals: a file that cannot be written is refused before anything runs, with
// what to do; a file is written whole or not at all; no file that the command
// reads is overwritten. Non-goals: appending, permissions other than 0644.
package outfile
