#include "engine.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/version.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

using rocksdb::Iterator;
using rocksdb::PinnableSlice;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// keySize is that of a key of the first database: first word, id.
constexpr size_t keySize = 16;

void Fail(const Status &s, failure *f) {
  if (s.ok() || f->kind != 0) return;
  f->kind = s.IsCorruption() || s.IsNotFound() ? 1 : 2;
  snprintf(f->text, sizeof f->text, "%s", s.ToString().c_str());
}

void PutNumber(char *to, uint64_t n) {
  n = __builtin_bswap64(n);
  memcpy(to, &n, sizeof n);
}

uint64_t Number(const char *from) {
  uint64_t n;
  memcpy(&n, from, sizeof n);
  return __builtin_bswap64(n);
}

template <typename T>
T Load(const char *p) {
  T v;
  memcpy(&v, p, sizeof v);
  return v;
}

// words is a list of hashes in a value; not aligned. Of a damaged value it is
// one that no query has.
struct words {
  const char *at;
  size_t n;
};

// nobody is the hash of no word (search/words).
const uint64_t nobody = 0;

const words damaged = {reinterpret_cast<const char *>(&nobody), 1};

// Flat finds the vector that is the first field of a FlatBuffers table, as
// FlatBuffers' own accessors do, but stays within the value: tables without
// blocks have no checksums.
words Flat(const Slice &v) {
  const char *base = v.data();
  const int64_t size = static_cast<int64_t>(v.size());
  if (size < 4) return damaged;
  const int64_t table = Load<uint32_t>(base);
  if (table + 4 > size) return damaged;
  const int64_t vtable = table - Load<int32_t>(base + table);
  if (vtable < 0 || vtable + 4 > size) return damaged;
  if (Load<uint16_t>(base + vtable) <= 4) return {nullptr, 0};
  if (vtable + 6 > size) return damaged;
  const int64_t field = Load<uint16_t>(base + vtable + 4);
  if (field == 0) return {nullptr, 0};
  int64_t vector = table + field;
  if (vector + 4 > size) return damaged;
  vector += Load<uint32_t>(base + vector);
  if (vector + 4 > size) return damaged;
  const int64_t n = Load<uint32_t>(base + vector);
  if (vector + 4 + 8 * n > size) return damaged;
  return {base + vector + 4, static_cast<size_t>(n)};
}

// Target is where a Cap'n Proto pointer leads: the first byte after it, and the
// signed offset from there in words.
int64_t Target(int64_t at, uint64_t pointer) {
  return at + 8 + 8 * (static_cast<int32_t>(pointer) >> 2);
}

// Capn finds the list that is the first pointer of a Cap'n Proto struct, the root
// of a message of one segment without a frame; it stays within the value.
words Capn(const Slice &v) {
  const char *base = v.data();
  const int64_t size = static_cast<int64_t>(v.size());
  if (size < 8) return damaged;
  const uint64_t root = Load<uint64_t>(base);
  if ((root & 3) != 0) return damaged;  // 0: a struct
  if (root >> 48 == 0) return {nullptr, 0};
  const int64_t at = Target(0, root) + 8 * (root >> 32 & 0xffff);
  if (at < 0 || at + 8 > size) return damaged;
  const uint64_t list = Load<uint64_t>(base + at);
  if (list == 0) return {nullptr, 0};
  if ((list & 3) != 1 || (list >> 32 & 7) != 5) return damaged;  // 1: a list, 5: of 8 bytes each
  const int64_t from = Target(at, list), n = static_cast<int64_t>(list >> 35);
  if (from < 0 || from + 8 * n > size) return damaged;
  return {base + from, static_cast<size_t>(n)};
}

words Raw(const Slice &v) { return {v.data(), v.size() / sizeof(uint64_t)}; }

// question is a query's words and their signature: one bit a word.
struct question {
  uint64_t words[32];
  size_t n = 0;
  uint64_t signature = 0;

  bool Has(uint64_t w) const {
    if (!(signature >> (w & 63) & 1)) return false;
    for (size_t i = 0; i < n; i++)
      if (words[i] == w) return true;
    return false;
  }

  bool HasAll(struct words k) const {
    for (size_t i = 0; i < k.n; i++)
      if (!Has(Load<uint64_t>(k.at + i * sizeof(uint64_t)))) return false;
    return true;
  }
};

std::unique_ptr<rocksdb::DB> Open(const char *dir, const char *text,
                                  const std::shared_ptr<rocksdb::Cache> &cache,
                                  failure *f) {
  rocksdb::Options o;
  rocksdb::ConfigOptions strict;
  Status s = rocksdb::GetOptionsFromString(strict, rocksdb::Options(), text, &o);
  if (s.ok()) {
    auto *t = o.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (t != nullptr && !t->no_block_cache) t->block_cache = cache;
    o.info_log_level = rocksdb::FATAL_LEVEL;
#if ROCKSDB_MAJOR >= 11
    std::unique_ptr<rocksdb::DB> db;
#else
    rocksdb::DB *db;
#endif
    s = rocksdb::DB::OpenForReadOnly(o, dir, &db);
    if (s.ok()) return std::unique_ptr<rocksdb::DB>(std::move(db));
  }
  Fail(s, f);
  return nullptr;
}

}  // namespace

struct engine {
  // records' cache may be the same one.
  std::shared_ptr<rocksdb::Cache> cache, records_cache;
  std::unique_ptr<rocksdb::DB> matching, records;
};

struct walker {
  engine *e;
  bool keep;
  rocksdb::ReadOptions read;
  std::unique_ptr<Iterator> it;
  char prefix[8];
  std::string copies;
  results out;
  // Of a search: the next word, and whether that before it is being walked.
  question q;
  int codec = 0;
  size_t word = 0;
  bool walking = false;
  // Of records: what was looked up stays where it lies as long as these do.
  PinnableSlice values[batch];

  void Begin() {
    out.failed.kind = 0;
    out.done = 0;
    out.n = 0;
  }

  void Seek(uint64_t w) {
    PutNumber(prefix, w);
    if (!keep || it == nullptr) it.reset(e->matching->NewIterator(read));
    it->Seek(Slice(prefix, sizeof prefix));
  }

  // At tells whether the iterator is on a keyword of the word sought. Seeking
  // uses the prefix; RocksDB's own check of it at each step (prefix_same_as_start)
  // takes longer than this one.
  bool At() const {
    return it->Valid() && it->key().size() == keySize &&
           memcmp(it->key().data(), prefix, sizeof prefix) == 0;
  }

  uint64_t ID() const { return Number(it->key().data() + sizeof prefix); }

  bool Matches(const Slice &v) const {
    switch (codec) {
      case codec_flat:
        return q.HasAll(Flat(v));
      case codec_capn:
        return q.HasAll(Capn(v));
    }
    return q.HasAll(Raw(v));
  }

  void Walk(size_t *look);
  void Records();
};

// Walk goes on with the word being walked, to its end or that of the batch or
// of look.
void walker::Walk(size_t *look) {
  for (; out.n < batch && *look > 0; --*look, it->Next()) {
    if (!At()) {
      walking = false;
      return;
    }
    if (Matches(it->value())) out.pairs[out.n++].id = ID();
  }
}

// Records looks up the values of the ids found.
void walker::Records() {
  auto &db = *e->records;
  auto *family = db.DefaultColumnFamily();
  for (size_t i = 0; i < out.n; i++) {
    char key[8];
    PutNumber(key, out.pairs[i].id);
    values[i].Reset();
    Fail(db.Get(read, family, Slice(key, sizeof key), &values[i]), &out.failed);
    out.pairs[i].value = {values[i].data(), values[i].size()};
  }
}

extern "C" {

engine *engine_open(const char *matching, const char *matching_options,
                    const char *records, const char *records_options,
                    size_t cache_bytes, int caches, failure *f) {
  auto e = std::make_unique<engine>();
  e->cache = rocksdb::NewLRUCache(cache_bytes);
  e->records_cache = caches == 1 ? e->cache : rocksdb::NewLRUCache(cache_bytes);
  e->matching = Open(matching, matching_options, e->cache, f);
  if (e->matching != nullptr && records != nullptr)
    e->records = Open(records, records_options, e->records_cache, f);
  return f->kind == 0 ? e.release() : nullptr;
}

size_t engine_memory(const engine *e) {
  size_t sum = e->cache->GetUsage();
  if (e->records_cache != e->cache) sum += e->records_cache->GetUsage();
  for (auto *db : {e->matching.get(), e->records.get()}) {
    uint64_t tables = 0;
    if (db != nullptr &&
        db->GetIntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem,
                           &tables))
      sum += tables;
  }
  return sum;
}

size_t engine_raw(const engine *e) {
  size_t sum = 0;
  for (auto *db : {e->matching.get(), e->records.get()}) {
    rocksdb::TablePropertiesCollection tables;
    if (db == nullptr || !db->GetPropertiesOfAllTables(&tables).ok()) continue;
    for (const auto &t : tables) sum += t.second->raw_key_size + t.second->raw_value_size;
  }
  return sum;
}

void engine_close(engine *e) { delete e; }

walker *walker_open(engine *e, int keep, results **r) {
  auto *w = new walker;
  w->e = e;
  w->keep = keep != 0;
  *r = &w->out;
  return w;
}

void walker_close(walker *w) { delete w; }

void walker_seek(walker *w, uint64_t word) {
  w->Begin();
  w->Seek(word);
  Fail(w->it->status(), &w->out.failed);
}

void walker_pairs(walker *w) {
  w->Begin();
  w->copies.clear();
  auto &out = w->out;
  for (; out.n < batch && w->At(); out.n++, w->it->Next()) {
    Slice v = w->it->value();
    w->copies.append(v.data(), v.size());
    out.pairs[out.n] = {w->ID(), {nullptr, v.size()}};
  }
  const char *at = w->copies.data();
  for (size_t i = 0; i < out.n; i++) {
    out.pairs[i].value.data = at;
    at += out.pairs[i].value.size;
  }
  out.done = out.n < batch;
  Fail(w->it->status(), &out.failed);
}

void walker_record(walker *w, uint64_t id) {
  w->Begin();
  w->out.n = 1;
  w->out.pairs[0].id = id;
  w->Records();
}

void walker_query(walker *w, const uint64_t *words, size_t n, int codec) {
  w->q = question();
  for (size_t i = 0; i < n && i < 32; i++) {
    w->q.words[w->q.n++] = words[i];
    w->q.signature |= uint64_t{1} << (words[i] & 63);
  }
  w->codec = codec;
  w->word = 0;
  w->walking = false;
}

void walker_matches(walker *w, size_t look) {
  // RocksDB's counters of each step, on as they come, are a tenth of the time;
  // they are the thread's.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  w->Begin();
  auto &out = w->out;
  while (out.n < batch && look > 0 && out.failed.kind == 0) {
    if (!w->walking) {
      if (w->word == w->q.n) break;
      w->Seek(w->q.words[w->word++]);
      w->walking = true;
    }
    w->Walk(&look);
    if (!w->walking) Fail(w->it->status(), &out.failed);
  }
  out.done = !w->walking && w->word == w->q.n;
  w->Records();
}

}  // extern "C"
