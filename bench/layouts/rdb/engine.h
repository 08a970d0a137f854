// The part of the layouts that runs beside RocksDB, in its own language: one
// call from Go for many pairs instead of four for each.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct engine engine;
typedef struct walker walker;

// failure is why a call did not do its work; kind 0: it did.
typedef struct {
  int kind;  // 1: stored bytes are damaged, 2: anything else
  char text[240];
} failure;

// bytes are RocksDB's or the walker's, good until its next call.
typedef struct {
  const char *data;
  size_t size;
} bytes;

// pair is one keyword of the first database.
typedef struct {
  uint64_t id;
  bytes value;
} pair;

// codec is how the words after the first lie in a value.
enum codec { codec_flat = 1, codec_raw = 2 };

// engine_open opens the databases read-only; records may be NULL. They share a
// cache of cache_bytes.
engine *engine_open(const char *matching, const char *matching_options,
                    const char *records, const char *records_options,
                    size_t cache_bytes, failure *f);
// engine_memory is what RocksDB holds: its cache and what it keeps of tables.
size_t engine_memory(const engine *e);
void engine_close(engine *e);

// walker_open makes what one goroutine reads with. keep: one iterator serves
// all words, otherwise each word gets a new one. same_prefix: the databases
// have a prefix extractor.
walker *walker_open(engine *e, int keep, int same_prefix);
void walker_close(walker *w);

// walker_seek goes to the first keyword of a first word.
void walker_seek(walker *w, uint64_t word, failure *f);
// walker_pairs copies the next keywords of that word; fewer than max: no more.
size_t walker_pairs(walker *w, pair *out, size_t max, failure *f);
// walker_records looks up one database's value for each of n ids; sorted: they
// rise.
void walker_records(walker *w, const uint64_t *ids, size_t n, bytes *out,
                    failure *f);

// walker_query begins a search for keywords with all words among these.
void walker_query(walker *w, const uint64_t *words, size_t n, int codec);
// walker_next goes on with it: at most max matches, looking at about look pairs,
// with their records. It returns the number of matches; *done: there are no
// more.
size_t walker_next(walker *w, uint64_t *ids, bytes *records, size_t max,
                   size_t look, int *done, failure *f);

#ifdef __cplusplus
}
#endif
