// Package postgres is a backend.Store in a PostgreSQL database, in the schema adshard. It is for clusters of several
// machines and for many concurrent writers.
//
// # Clock and log
//
// Triggers note which entities a transaction has changed (the table pending) and lock their rows. When the
// transaction commits, a deferred constraint trigger takes the only row of the table state, gives each entity the
// next clock, writes the log and the entities' versions, and keeps the row locked until the commit is durable and
// visible. So clocks are in the order in which commits become visible. A reader that sees a clock sees all lower
// ones, no gap is filled later, and no reader needs to know which transactions are open. A transaction that commits
// an hour after it began gets the clocks of that moment, and until then it does not delay others. The log has the
// changes of every program, and lists each entity once for each transaction.
//
// # Locks
//
//	state, one row     from the trigger at the end of a transaction to its commit;
//	                   never while the server waits for a client or another row
//	rows of entities   from a change to the end of its transaction. A change of what
//	                   a group or campaign holds locks the group or campaign, too.
//	                   A Tx locks a group when it first compares what it holds
//	advisory 1         shared, by all transactions that may take ids; exclusive, while
//	                   ids that were never used are taken back
//	advisory 2         while a control value is written
//	advisory 3         while the schema is made or updated, and while the table unfinished
//	                   is changed
//	advisory 4         while a document is written
//	compacted, one row while the log is compacted; no other transaction writes it
//
// Readers take none of these locks. If two transactions write the same entities, the later one waits up to the busy
// timeout and then fails with fault.Locked, or fails at once if each waits for the other.
//
// # Identity
//
// The database has a random id, which is made with the schema and copied by backups. Each entry of the log has a
// random mark. It shows a reader that the database was restored, or that a promoted standby lacks changes that the
// reader has read. The id is checked on each new connection, since the URL may now name another database.
//
// # Ids of entities
//
// Ids come from sequences, so that writers do not wait for each other. The table state keeps the highest ids that
// were committed. A transaction that begins while no other one writes sets the sequences back to these. So ids have
// no gaps unless several transactions write at once, and no id is given twice.
//
// # Unfinished
//
// The table unfinished lists the commands that are making the database in several transactions (backend.Making). It is created
// in the same transaction as the schema, and dropped in the last transaction. Any other program that finds it refuses the
// database.
//
// # What an adversary may try
//
//   - A transaction is open for an hour. It holds the rows that it changed, and
//     nothing else. Its commit holds state for as long as it takes to write one
//     row of the log and one version for each of its entities.
//   - A writer freezes. The same holds, since the server takes state during
//     COMMIT.
//   - SET CONSTRAINTS ALL IMMEDIATE takes state before the commit. Each change
//     after it gets a clock at once, so that nothing is lost, but all other commits
//     wait. PREPARE TRANSACTION fails, since the trigger has sent a NOTIFY.
//   - A server dies or fails over in the middle of an import. What was
//     acknowledged is durable; the open transaction is lost and is repeated
//     (package ingest). A COMMIT whose answer is lost fails with fault.Unavailable although
//     it may have succeeded. With asynchronous replication a promoted standby may
//     lack acknowledged commits; readers that have read these notice it by the marks.
//   - A replica was promoted, follows another server, or lags too far behind the log. It is refused
//     (FillSnapshot).
//   - A host of the URL is a standby. Connections ask for a server that can be written
//     to, whatever hosts the URL names.
//   - A role may write entities but not the log. The triggers run as the owner of
//     the schema (roles.sql).
//   - TRUNCATE, and changes of ids or owners, fail, since readers would not learn of them.
//
// # Durability
//
// synchronous_commit is set to on if it is off; other settings are left to the administrator. PostgreSQL's own
// checksums of pages (initdb --data-checksums) find damage. Sums of entities as in backend/sqlite are not kept.
//
// # Waking
//
// A commit sends a NOTIFY. It only wakes waiting callers, which then read the clock. If a NOTIFY is lost, they are
// delayed by Options.Poll.
//
// Goals: as above; writing tens of thousands of rows a second. Non-goals: a connection pooler that spreads one
// session's statements over several connections (PgBouncer's statement mode); servers before PostgreSQL 15.
package postgres
