// Package sqlite is the embedded backend: a backend.Store in one SQLite file.
//
// # Clock and log
//
// Triggers write the log of changes in the transaction of the change itself,
// so a change by any program that opens the file is in the feed too. The clock
// is the log's AUTOINCREMENT key: it only grows, also when the log is compacted
// to nothing and the file is opened again. The version of an entity is stored
// with it, so that compaction does not touch it.
//
// A Tx logs each entity once. It stores the clock before its first write in
// state.since; a trigger finds from it that an entity's version is of this very
// transaction and logs nothing more. The value is restored before the commit, so no
// other transaction ever sees it. Others log every change.
//
// # Identity
//
// A database has a random id, made with the file and copied with it. Two copies
// that went on differently can have the same clock, so each entry of the log
// has a random mark too: a reader that names the clock and the mark it has seen
// last can check whether this log is the one it read from. The mark is the
// column's default, so that entries by other programs have one; this program's
// writer makes it of the system's randomness. The mark of the last entry that
// was compacted is kept in the table state.
//
// # Ids of entities
//
// Advertisers, campaigns and groups have AUTOINCREMENT keys. What they hold is
// clustered by owner and natural key, so that a group is read from one place;
// its ids come from counters in the table state. All are part of the
// transaction: a rollback leaves no hole, and no id comes back after a removal.
//
// # Unfinished
//
// The table unfinished has the commands that make a database in several transactions (backend.Making). It is made before any
// other table, and dropped in the last transaction. Any other program that finds it refuses the file.
//
// # Damage
//
// SQLite has no checksums of its pages, and its integrity_check looks at structure
// only. So each advertiser and each campaign with its negatives and each group with
// all it holds has a sum of its rows' hashes in the column sum, which is for the
// version in summed. A writer adds and takes away the hashes of what it changes, as it
// read them, so that a damaged row stays detectable. Readers compare. A version above
// summed that the log confirms is a change by a program that keeps no sums. It is read
// as it is, and the next Compact or Tx that meets it sums it again before the entry
// leaves the log. Rows of the log and the state have sums that SQLite computes, so
// that any program's are right. docs/decisions/004-sqlite-driver.md says why.
//
// # Durability
//
// The write-ahead log with synchronous=FULL: what Commit or SaveControl has
// acknowledged survives kill -9 and, if the disk honours flushes, a power loss.
//
// # The file
//
// SQLite keeps writing to a file that was removed or replaced, which no other program
// sees. So before each read and after each commit the store compares what the path names
// with what it has open: the database, its write-ahead log and the log's index, by
// device and inode. If a database's file was written to, its first page is read, without
// the log: user_version holds a number made of the id, and a file that was emptied or
// overwritten has another one. All operations fail with fault.Unavailable from then on.
// When the path names a database with the same id again, the store opens it as soon as
// none of its old connections is in use. After an overwrite in place it does not, since
// what SQLite has in its log and its memory belongs to another file.
//
// # Connections
//
// One connection writes, each read and each snapshot has its own; they go
// through zombiezen.com/go/sqlite, which is much faster than database/sql
// (docs/decisions/004-sqlite-driver.md). Migrations run by goose through
// database/sql.
//
// Goals: many tens of thousands of rows a second in, half a million out; errors
// that say what to do. Non-goals: a database on a network file system, several
// machines (that is backend/postgres).
package sqlite
