// Package outfile opens the outputs of all programs: files that a command writes, logs that
// grow, and directories that a command makes.
//
// Goals: an output never destroys what is not its own. An existing file is replaced only if its
// beginning shows that the same output wrote it; any other is refused, with what to do. A file is
// written beside its place and renamed, so it is there whole or not at all. It keeps the mode of the
// file that it replaces; a new one is readable only by its owner, unless its kind is meant for all
// users.
//
// What can go wrong, and is refused before anything is written:
//
//   - The path is a database, its write-ahead log, a key, a token file, a part of a slave's store
//     or of a backup: by how the file begins, whatever its name, so that links to it are refused,
//     too. Not even Force replaces these.
//   - The path is free, but a database would take the file for its own: NAME-wal, NAME-shm,
//     NAME-journal and NAME-events belong to the database NAME, even before it has them.
//   - The path is in a slave's store or in a backup, which have only files of their own.
//   - The path is an input of the command, a database that it opens or will make, another output
//     or a standard stream: by the file itself and by its name, links followed.
//   - The path is a pipe, which would keep the command waiting for a reader, a socket, or a disk.
//   - Files change while the command runs: all is checked again before the file gets its name. A
//     program that makes another file at that name in the last instant loses it.
//
// Non-goals: files of a database, of a store or of a copy under way, which belong to the package
// that knows their format (internal/lint lists them); protection from the owner of a directory.
package outfile
