// Package memlimit divides the memory that a process with slaves may take, and
// holds Go's heap and the C allocator to their parts.
//
// Goals: one number is configured, and the system's count of what is resident stays
// near it or below. Non-goals: other processes' memory; the system's page cache,
// which the system takes back.
package memlimit
