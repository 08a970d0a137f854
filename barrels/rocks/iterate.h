// Reads several entries of a RocksDB iterator in one call: a step through cgo
// costs more than RocksDB's own.
#ifndef ADSHARD_ITERATE_H
#define ADSHARD_ITERATE_H

#include <stddef.h>
#include <stdint.h>

#include "rocksdb/c.h"

// entries are what one call has read. Each entry lies in the caller's buffer:
// the sizes of key and value (uint32 each, in the machine's order), key, value.
typedef struct {
  size_t used;    // bytes of the buffer
  size_t need;    // size of the first entry, if the buffer has no room for it
  uint8_t end;    // there is no entry after those read
  uint8_t unread; // the iterator stands at an entry that was not read
} entries;

// Where adshard_seek goes: to the first entry at or after the key, to the last
// at or before it, to the first of all.
enum { SEEK_FORTH = 0, SEEK_BACK = 1, SEEK_FIRST = 2 };

// adshard_seek moves the iterator and reads the entry there.
entries adshard_seek(rocksdb_iterator_t* it, int where, const char* key, size_t key_size, char* buffer, size_t size);

// adshard_next reads the entries after the one that the iterator stands at,
// or from it on if it was left unread: at most so many, as the buffer has room.
entries adshard_next(rocksdb_iterator_t* it, uint8_t unread, uint32_t most, char* buffer, size_t size);

#endif
