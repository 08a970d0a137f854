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
  int kind;  // 1: stored bytes are damaged or missing, 2: anything else
  char text[240];
} failure;

// bytes are RocksDB's or the walker's, good until the walker's next call.
typedef struct {
  const char *data;
  size_t size;
} bytes;

// pair is a keyword's id with a value from one of the databases.
typedef struct {
  uint64_t id;
  bytes value;
} pair;

// batch is the number of pairs of one call.
enum { batch = 256 };

// results are what a walker's last call found. They lie in C's memory: nothing
// has to be checked or pinned on the way.
typedef struct {
  failure failed;
  int done;  // there are no more
  size_t n;
  pair pairs[batch];
} results;

// codec is how the words after the first lie in a value.
enum codec { codec_flat = 1, codec_raw = 2, codec_capn = 4 };

// engine_open opens the databases read-only; records may be NULL. They share a
// cache of cache_bytes, or with caches 2 each has one.
engine *engine_open(const char *matching, const char *matching_options,
                    const char *records, const char *records_options,
                    size_t cache_bytes, int caches, failure *f);
// engine_memory is what RocksDB holds: caches and what it keeps of tables.
size_t engine_memory(const engine *e);
// engine_raw is the size of all keys and values, before any compression.
size_t engine_raw(const engine *e);
void engine_close(engine *e);

// walker_open makes what one goroutine reads with; *r is where its calls leave
// what they find. keep: one iterator serves all words, otherwise each word gets
// a new one.
walker *walker_open(engine *e, int keep, results **r);
void walker_close(walker *w);

// walker_seek goes to the first keyword of a first word.
void walker_seek(walker *w, uint64_t word);
// walker_pairs copies the next keywords of that word.
void walker_pairs(walker *w);
// walker_record looks up the value of a keyword in the second database.
void walker_record(walker *w, uint64_t id);

// walker_query begins a search for the keywords that have all words among
// these: at most 32.
void walker_query(walker *w, const uint64_t *words, size_t n, int codec);
// walker_matches goes on with it and finds a batch of matches, each with its
// value in the second database; none where look pairs had none.
void walker_matches(walker *w, size_t look);

#ifdef __cplusplus
}
#endif
