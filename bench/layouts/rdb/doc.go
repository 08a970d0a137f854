// Package rdb has the eight layouts of the thesis that lie in RocksDB.
package rdb
