// Package footprint says what the memory of this process is taken by, cause by
// cause: objects of Go by the code that made them, what Go's heap and the C
// library hold without need, RocksDB's own parts, pages of files.
//
// Goals: the causes add up to what the system counts as resident. Non-goals:
// other processes.
package footprint
