package rocks

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// static void few_arenas(void) { mallopt(M_ARENA_MAX, 2); mallopt(M_TRIM_THRESHOLD, 4 << 20); }
// static void trim(void) { malloc_trim(0); }
// #else
// static void few_arenas(void) {}
// static void trim(void) {}
// #endif
import "C"

// FewArenas limits the C library to two arenas for memory that RocksDB frees: each arena keeps what
// was freed in it, and RocksDB's threads need no more. It applies to the whole process, and must be
// called before databases are opened.
func FewArenas() { C.few_arenas() }

// ReturnFree returns unused memory of the C library to the system. It may take some milliseconds.
func ReturnFree() { C.trim() }
