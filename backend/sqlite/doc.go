// Package sqlite is the embedded backend: a backend.Store in one SQLite file.
//
// # Clock and log
//
// Triggers write the log of changes in the transaction of the change itself, so a change by any program that opens
// the file is in the feed, too. The clock is the log's AUTOINCREMENT key: it only grows, even when the whole log is
// compacted and the file is opened again. The version of an entity is stored with the entity, so that compaction does
// not change it.
//
// A Tx logs each entity once. Before its first write it stores the clock in state.since. From that a trigger finds
// that an entity's version is from this very transaction, and logs nothing more. The value is restored before the
// commit, so no other transaction ever sees it. Other writers log every change.
//
// # Identity
//
// A database has a random id, which is made with the file and copied with it. Two copies that were changed
// differently can have the same clock. So each entry of the log has a random mark, too: a reader that gives the clock
// and the mark it saw last can check whether this is the log it read from. The mark is the column's default, so that
// entries by other programs have one. This program's writer makes it from the system's randomness. The mark of the
// last compacted entry is kept in the table state.
//
// # Ids of entities
//
// Advertisers, campaigns and groups have AUTOINCREMENT keys. The rows that they hold are clustered by owner and
// natural key, so that a group is read from one place; the ids of these rows come from counters in the table state.
// All are part of the transaction: a rollback leaves no gap, and no id is used again after a removal.
//
// # Unfinished
//
// The table unfinished lists the commands that are making a database in several transactions (backend.Making). It is created
// before any other table, and dropped in the last transaction. Any other program that finds it refuses the file.
//
// # Damage
//
// SQLite has no checksums of its pages, and its integrity_check only checks structure. So each advertiser and each
// campaign with its negatives, and each group with everything that it holds, has a sum of its rows' hashes. It is in
// the column sum and belongs to the version in summed. A writer subtracts the hashes of the rows as it read them and
// adds the hashes of the new rows, so that a damaged row can still be found. Readers compare. A version above summed
// that the log confirms is a change by a program that keeps no sums. The entity is then read as it is, and the next
// Compact or Tx that meets it computes its sum again before the entry leaves the log. Rows of the log and the state
// have sums that SQLite computes, so that they are right for every program. docs/decisions/004-sqlite-driver.md gives
// the reasons.
//
// # Durability
//
// The write-ahead log is used with synchronous=FULL: what Commit or SaveControl has acknowledged survives kill -9
// and, if the disk honours flushes, a power loss.
//
// # The file
//
// SQLite keeps writing to a file that was removed or replaced, although no other program sees it. So before each read
// and after each commit the store compares what the path names with what it has open: the database, its write-ahead
// log and the log's index, by device and inode. If the database's file was written to, its first page is read without
// the log: user_version holds a number made from the id, and a file that was emptied or overwritten has another one.
// From then on all operations fail with fault.Unavailable. When the path names a database with the same id again, the
// store opens it as soon as none of its old connections is in use. After an overwrite in place it does not, since
// what SQLite has in its log and its memory belongs to another file.
//
// # Connections
//
// One connection writes; each read and each snapshot has its own. They use zombiezen.com/go/sqlite, which is much
// faster than database/sql (docs/decisions/004-sqlite-driver.md). goose runs the migrations through database/sql.
//
// Goals: writing tens of thousands of rows a second and reading half a million; errors that say what to do.
// Non-goals: a database on a network file system; several machines (see backend/postgres).
package sqlite
