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

// FewArenas has the C library keep what RocksDB frees in two arenas: each keeps
// what was freed in it, and RocksDB's threads need no more. It is for a whole
// process, and comes before databases are opened.
func FewArenas() { C.few_arenas() }

// ReturnFree gives the system back what the C library holds without need. It may
// take some milliseconds.
func ReturnFree() { C.trim() }
