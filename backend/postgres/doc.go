// Package postgres is a backend.Store in a PostgreSQL database, in its schema adshard,
// for clusters of several machines and for many writers at once.
//
// # Clock and log
//
// Triggers note which entities a transaction has changed (the table pending) and lock
// their rows. When it commits, a deferred constraint trigger takes the one row of the
// table state, gives each entity the next clock, writes the log and the entities'
// versions, and keeps the row locked until the commit is durable and visible. So clocks
// are in the order in which commits become visible: a reader that sees a clock sees all
// below it, there is never a hole that is filled later, and no reader needs to know
// which transactions are open. A transaction that commits an hour after it began gets
// the clocks of that moment, and until then holds up no other. Any program's changes
// are in the log, each entity once a transaction.
//
// # Locks
//
//	state, one row     from the trigger at the end of a transaction to its commit;
//	                   never while the server waits for a client or another row
//	rows of entities   from a change to the end of its transaction. A change of what
//	                   a group or campaign holds locks the group or campaign too.
//	                   A Tx locks a group when it first compares what it holds
//	advisory 1         shared, by all transactions that may take ids; exclusive, while
//	                   ids that were never used are taken back
//	advisory 2         while a control value is written
//	advisory 3         while the schema is made or brought up to date, and while the table unfinished
//	                   is changed
//	advisory 4         while a document is written
//	compacted, one row while the log is compacted; no other transaction writes it
//
// Readers take none of these. The locks of two transactions that write the same
// entities make the later one wait up to the busy timeout; it fails with
// fault.Locked then, or at once where each waits for the other.
//
// # Identity
//
// The database has a random id, made with the schema and copied by backups. Each entry of the log
// has a random mark, so that a reader notices that the database was restored, or that the promoted
// standby lacked what it has read. Each new connection is compared with the id: the URL may by now
// name another database.
//
// # Ids of entities
//
// Ids come from sequences, so that writers do not wait for each other. state keeps
// the highest that were committed; a transaction that begins while no other writes
// puts the sequences back to them. So ids have no holes unless several write at
// once, and none is given twice.
//
// # Unfinished
//
// The table unfinished has the commands that make the database in several transactions (backend.Making). It is
// made in the same transaction as the schema, and dropped in the last one. Any other program that finds it refuses the database.
//
// # What an adversary may try
//
//   - A transaction that is open for an hour: it holds the rows that it changed, and
//     nothing else. Its commit holds state for as long as it takes to write one
//     row of the log and one version for each of its entities.
//   - A writer that freezes: the same, since state is taken in the server, in the
//     course of COMMIT.
//   - SET CONSTRAINTS ALL IMMEDIATE takes state before the commit. Each change
//     after it gets a clock at once, so that nothing is lost, but all other commits
//     wait. PREPARE TRANSACTION is refused, since the trigger has sent a NOTIFY.
//   - A server that dies or fails over in the middle of an import: what was
//     acknowledged is durable, the open transaction is lost and is repeated
//     (package ingest). A COMMIT whose answer is lost fails with fault.Unavailable although
//     it may have happened. With asynchronous replication a promoted standby may
//     lack acknowledged commits; readers that were ahead notice by the marks.
//   - A replica that was promoted, follows another server, or lags behind the log: refused
//     (FillSnapshot).
//   - A standby in place of a primary: connections ask for one that can be written
//     to, whatever the URL says of hosts.
//   - A role that may write entities but not the log: the triggers run as the owner of
//     the schema (roles.sql).
//   - TRUNCATE, changes of ids or owners: refused, since readers would not learn of it.
//
// # Durability
//
// synchronous_commit is raised to on where it is off; other settings are the
// administrator's. PostgreSQL's own checksums of pages (initdb --data-checksums)
// find damage; sums of entities as in backend/sqlite are not kept.
//
// # Waking
//
// A commit sends a NOTIFY. It only wakes waiting callers, which then read the clock;
// a lost one delays them by Options.Poll.
//
// Goals: as above; tens of thousands of rows a second in. Non-goals: a connection
// pooler that spreads one session's statements over several (PgBouncer's
// statement mode), servers before PostgreSQL 15.
package postgres
