// Package linked implements the three architectures of section 4.1 of the master thesis
// (Balancing Keyword-Based Data and Queries, after Adya et al., HotOS 2019) as layouts.
// They differ in where the keywords are when a query comes, and in which form:
//
//   - RInK: bytes in a remote in-memory key-value store. A query makes two calls: one
//     for the keywords under its words, one for the records of those that match.
//   - stateful: the same bytes in a map of this process, decoded by each query. This is
//     also the map in place of RocksDB that section 9.3 asks for.
//   - LInK: objects in a map of this process.
//
// In all three, a keyword is stored under its first word, as in the thesis' layouts
// (package rdb), and a search reads the record of each match.
//
// RInK's store is a server in this process, reached over TCP on the loopback interface:
// the bytes go through the kernel and back, but through no network. Its cost is the
// least that a remote store can have.
//
// Goals: layouts that differ only in this. Non-goals: changes, best keywords, balance
// between nodes.
package linked
