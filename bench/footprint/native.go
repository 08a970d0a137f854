package footprint

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// #endif
//
// static void allocated(size_t *used, size_t *unused) {
// #ifdef __GLIBC__
//   struct mallinfo2 m = mallinfo2();
//   *used = m.uordblks + m.hblkhd;
//   *unused = m.fordblks;
// #else
//   *used = *unused = 0;
// #endif
// }
import "C"

// allocated says how many bytes the C library has handed out, and how many it
// holds unused.
type allocated struct{ used, free int64 }

// mallocated reads the C library's statistics.
func mallocated() allocated {
	var used, free C.size_t
	C.allocated(&used, &free)
	return allocated{int64(used), int64(free)}
}
