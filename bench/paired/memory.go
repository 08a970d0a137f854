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

// settled gives back what Go and the C library hold without need, and returns
// how much of this process' memory is resident and not pages of files.
func settled() (uint64, error) {
	runtime.GC() // twice: what has finalizers goes with the second
	debug.FreeOSMemory()
	C.trim()
	m, err := measure.MemoryOf(0)
	return m.Anonymous, err
}
