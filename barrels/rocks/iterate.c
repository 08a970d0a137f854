#include "iterate.h"

#include <string.h>

// put appends the iterator's entry to the buffer; 0: it has no room.
static int put(rocksdb_iterator_t* it, char* buffer, size_t size, entries* out) {
  size_t key_size = 0, value_size = 0;
  const char* key = rocksdb_iter_key(it, &key_size);
  const char* value = rocksdb_iter_value(it, &value_size);
  size_t need = 2 * sizeof(uint32_t) + key_size + value_size;
  if (need > size - out->used) {
    if (out->used == 0) out->need = need;
    out->unread = 1;
    return 0;
  }
  uint32_t sizes[2] = {(uint32_t)key_size, (uint32_t)value_size};
  char* at = buffer + out->used;
  memcpy(at, sizes, sizeof sizes);
  memcpy(at + sizeof sizes, key, key_size);
  memcpy(at + sizeof sizes + key_size, value, value_size);
  out->used += need;
  return 1;
}

entries adshard_seek(rocksdb_iterator_t* it, int where, const char* key, size_t key_size, char* buffer, size_t size) {
  entries out = {0, 0, 0, 0};
  if (where == SEEK_FIRST) {
    rocksdb_iter_seek_to_first(it);
  } else if (where == SEEK_BACK) {
    rocksdb_iter_seek_for_prev(it, key, key_size);
  } else {
    rocksdb_iter_seek(it, key, key_size);
  }
  if (!rocksdb_iter_valid(it)) {
    out.end = 1;
    return out;
  }
  put(it, buffer, size, &out);
  return out;
}

entries adshard_next(rocksdb_iterator_t* it, uint8_t unread, uint32_t most, char* buffer, size_t size) {
  entries out = {0, 0, 0, 0};
  for (; most > 0; most--) {
    if (!unread) rocksdb_iter_next(it);
    unread = 0;
    if (!rocksdb_iter_valid(it)) {
      out.end = 1;
      return out;
    }
    if (!put(it, buffer, size, &out)) return out;
  }
  return out;
}
