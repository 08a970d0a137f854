// Package rocks implements kv.DB on RocksDB, with a column family for each of its families, and
// kv.Runs, with table files that a new database ingests. It handles options, handles and their
// lifetimes, and the kinds of RocksDB's errors.
//
// Non-goals: what keys and values mean, and what is stored when (package barrels).
//
// It is the only importer of grocksdb. No handle of RocksDB and no slice pinned by it leaves the
// package: what is read is copied, which costs less than the read's checksum. Debian's build of
// RocksDB has assertions on: closing a database with an open iterator or snapshot aborts the
// process. So every such object has one owner that closes it (a database its handles, a snapshot
// its iterators).
package rocks
