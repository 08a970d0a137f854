package measure

import "runtime"

// Heap returns the number of live bytes on the heap, after a garbage
// collection.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Grown returns how many bytes the heap has grown since it was before; at
// least 1.
func Grown(before uint64) uint64 {
	if now := Heap(); now > before {
		return now - before
	}
	return 1
}
