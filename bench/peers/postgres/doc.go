// Package postgres finds matching keywords with PostgreSQL: it is a peer for bench/layouts. It
// makes a separate cluster in the layout's directory, with Debian's programs, which can be
// reached only by a unix socket. Each searcher asks it with a prepared statement over its own
// connection. A connection is one process of the server and so one thread. Searches are timed
// at the client: a server is of no use without its answer, and a prepared statement over a
// unix socket is the shortest way to it.
//
// There are two layouts. GIN is what the manual offers for the question "which rows' words are
// all among these": an array with a GIN index and the operator <@. The index cannot answer it
// by itself: it finds all rows that have any of the words, and each of them is looked up and
// checked. Anchor is what an expert would do then: each row has the rarest of its words in a
// separate column, with a B-tree that includes all other columns needed. Only rows whose
// rarest word is in the query are checked, and the table is not read.
//
// Words are numbers, which the client looks up in its own map within the measured time. With
// text[], the same search with GIN took 1.2 times the processor time at 100,000 keywords
// (medians of 7 alternating passes); with the extension intarray and its gin__int_ops, it took
// 1.1 times, and 1.3 times with Anchor.
//
// Tuning:
//   - fsync and full_page_writes off, wal_level minimal, no senders, COPY into a
//     table without index, the index built after it: loading.
//   - gin fastupdate off: no pending list that searches would read as well.
//   - vacuum analyze after loading, so that an index-only scan reads no table;
//     synchronous_commit stays on, since vacuum takes no row for visible whose
//     commit is not written; autovacuum off.
//   - shared_buffers hold table and index, pg_prewarm reads them in; huge pages
//     where the system has some.
//   - jit off, max_parallel_workers_per_gather 0, plan_cache_mode
//     force_generic_plan: nothing is planned or compiled for each search.
//   - enable_seqscan off, random_page_cost 1, work_mem 256 MB: always the index,
//     and bitmaps of rows rather than of pages.
//   - ids are int, so that their sum is bigint and not numeric; locale C.
//
// Goals: what a widely used database achieves. Non-goals: changes while it is searched,
// several servers.
package postgres
