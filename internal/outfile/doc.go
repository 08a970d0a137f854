// Package outfile opens the outputs of all programs: files that a command writes, logs that grow, and directories
// that a command makes.
//
// Goals: an output never destroys files of something else. An existing file is replaced only if its beginning shows
// that the same output wrote it. Any other file is refused with an error that says what to do. A file is written next
// to its place and then renamed, so it is either complete or missing. It keeps the mode of the file that it replaces;
// a new file is readable only by its owner, unless its kind is meant for all users.
//
// What can go wrong, and is an error before anything is written:
//
//   - The path is a database, its write-ahead log, a key, a token file, a part of a slave's store
//     or of a backup. This is recognised by the beginning of the file, whatever its name, so that links to it are refused,
//     too. Force does not replace these, either.
//   - The path is free, but a database would take the file for its own: NAME-wal, NAME-shm,
//     NAME-journal and NAME-events belong to the database NAME, even before they exist.
//   - The path is in a slave's store or in a backup, which may have only files of their own.
//   - The path is an input of the command, a database that it opens or will make, another output
//     or a standard stream. Both the file itself and its name are compared, and links are followed.
//   - The path is a pipe, on which the command would wait for a reader, a socket, or a disk.
//   - Files change while the command runs. Everything is checked again before the file gets its name. A
//     file that another program makes under that name at the last moment is lost.
//
// Non-goals: files of a database, of a store or of an unfinished copy, which belong to the package that knows their
// format (internal/lint lists them); protection from the owner of a directory.
package outfile
