// Package memlimit divides the memory that a process with slaves may take, and keeps
// Go's heap and the C allocator within their parts.
//
// Goals: one number is configured, and the resident size of the process stays near or below it.
// Non-goals: the memory of other processes; the system's page cache, which the system reclaims by
// itself.
package memlimit
