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
// transaction and logs nothing more. The value is put back before the commit,
// so no other transaction ever sees it. Others log every change.
//
// # Identity
//
// A database has a random id, made with the file and copied with it. Two copies
// that went on differently can have the same clock, so each entry of the log
// has a random mark too: a reader that names the clock and the mark it has seen
// last finds out whether this log is the one it read from. The mark is the
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
// # Durability
//
// Write-ahead log with synchronous=FULL: what Commit or SaveControl reported
// survives kill -9 and, as far as the disk keeps its word, a power loss.
//
// # Connections
//
// One connection writes, one reads the feed, each snapshot has its own; they
// go through zombiezen.com/go/sqlite, which is much faster than database/sql
// (docs/decisions/004-sqlite-driver.md). Migrations run by goose through
// database/sql.
//
// Goals: many tens of thousands of rows a second in, half a million out; errors
// that say what to do. Non-goals: a database on a network file system, several
// machines (that is backend/postgres).
package sqlite
