package measure

import "runtime"

// Heap returns the bytes that are alive on the heap, after a collection.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Grown returns by how many bytes the heap is larger than before; at least 1.
func Grown(before uint64) uint64 {
	if now := Heap(); now > before {
		return now - before
	}
	return 1
}
