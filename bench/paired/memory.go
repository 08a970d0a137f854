package paired

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// static void trim(void) { malloc_trim(0); }
// #else
// static void trim(void) {}
// #endif
import "C"

import (
	"runtime"
	"runtime/debug"

	"adshard/bench/measure"
)

// settled gives back memory that Go and the C library hold unused, and returns
// the resident memory of this process without pages of files.
func settled() (uint64, error) {
	runtime.GC() // twice: objects with finalizers are freed by the second collection
	debug.FreeOSMemory()
	C.trim()
	m, err := measure.MemoryOf(0)
	return m.Anonymous, err
}
