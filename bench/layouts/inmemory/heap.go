package inmemory

import "runtime"

// heap is what is alive on the heap.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// grown is by how much the heap is larger than before; at least 1.
func grown(before uint64) uint64 {
	if now := heap(); now > before {
		return now - before
	}
	return 1
}
