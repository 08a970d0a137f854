// Package footprint breaks down the memory of this process by cause: Go
// objects by the code that made them, memory that Go's heap and the C library
// hold unused, RocksDB's own parts, pages of files.
//
// Goals: the causes add up to what the system counts as resident. Non-goals:
// other processes.
package footprint
