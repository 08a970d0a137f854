// Package postgres has PostgreSQL find the keywords that match: a peer of
// bench/layouts. It makes a cluster of its own in the layout's directory, with
// Debian's programs, reachable by a unix socket only, and asks it by a prepared
// statement over one connection a searcher; a connection is one process of the
// server, so one thread. Searches are timed at the client: a server is not of
// use without its answer, and a prepared statement over a unix socket is the
// shortest way to it.
//
// Two layouts. GIN is what the manual offers for the question "which rows' words are all among
// these": an array with a GIN index and the operator <@. The index cannot answer it by itself:
// it finds all rows that have any of the words, and each of them is looked up and checked.
// Anchor is what an expert would do then: each row has the rarest of its words in a column of
// its own, under a B-tree that includes all other columns needed. Only rows whose rarest word
// is asked for are checked, and the table is not read.
//
// Words are numbers, which the client looks up in a map of its own while it is
// timed. As text[] the same search with GIN took 1.2 times the processor time at
// 100,000 keywords (medians of 7 alternated passes); the extension intarray with
// its gin__int_ops 1.1 times, and 1.3 times with Anchor.
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
// Goals: what a widely used database achieves. Non-goals: changes while
// it is searched, several servers.
package postgres
