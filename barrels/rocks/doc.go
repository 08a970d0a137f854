// Package rocks keeps a slave's barrels in RocksDB: one database, a column
// family for each family of package barrels, one write batch a bucket. All
// logic is package barrels'; here are options, handles and their lifetimes,
// errors, and the offline build of whole stores (Builder).
//
// It is the only importer of grocksdb. No handle of RocksDB and no slice pinned
// by it leaves it: what is read is copied, which costs less than the read's
// checksum. Debian's build of RocksDB has assertions on: closing a database
// with an open iterator or snapshot aborts the process, so everything here has
// one owner that closes it (kv owns the database, a snapshot its iterators).
package rocks
