// Package rdb has the eight layouts of the thesis that lie in RocksDB (Balancing Keyword-Based
// Data and Queries, sections 6.6 and 7.1), under its names; two more to see what a part of them
// does (see Caches); and two with Cap'n Proto, which section 9.3 proposes: RDB-Pr-Cp and
// RDB-Pr-Cp-Opt are RDB-Pr-Fl and RDB-Pr-Fl-Opt with that serialization. Its Go library
// (capnproto.org/go/capnp/v3, MIT) has had no version but alphas since 2022; it calls itself
// beta. The reader in C++ is ours, as that of FlatBuffers is.
//
// All keep a keyword under its first word: one pair each, its key the hash of
// the first word (8 bytes, search/words) and the keyword's id. A search reads,
// for each word of the query, all keywords that begin with it and decides
// whether all their words are in the query. What they differ in is the table in
// designs.go: how values are written, whether what decides is apart from the
// rest of a keyword, how RocksDB is tuned, how far the code is.
//
// Goals: each layout as the thesis describes it, none worse than it has to be;
// RDB-Pr-Fl-Opt as good as its idea can be, since others are measured by it. The
// thesis' programs were C++ beside RocksDB: a call from Go into C for each pair
// would be most of the time, so that all read through a small engine in C++
// (engine.h), and those whose names end in NS-Opt, Fl-Opt and Cp-Opt also decide
// there.
//
// Non-goals: changes (the databases are opened read-only, as in the thesis'
// measurements), inflected words, negatives.
//
// # Caches
//
// Before the last two layouts the thesis says nothing of caches: each database has
// RocksDB's default of its time, said explicitly, 8 MiB of its own, behind which is the
// system's page cache; or less, where Options.CacheBytes is less.
//
// What the thesis found to matter is whether indexes and filters are in that cache.
// RocksDB's default is outside. But the thesis sets them outside as a step, for the first
// database with RDB-Pr-Opt and "also at Keyword RocksDB" with RDB-Pr-NS-Opt, and calls
// the effect of the second tremendous: there they were inside before, and so they are
// here. Of the first it does not say what was before that step: RDB-Pr has the default,
// RDB-Pr-In has them inside.
//
// Look-ups of records are not tuned up to RDB-Pr-NS. RDB-Pr-Fl-Told is RDB-Pr-Fl with
// the last step as far as the thesis tells of it: the code, indexes and filters outside,
// look-ups tuned. RDB-Pr-Fl-Opt has all of what follows besides.
//
// # The baseline's tuning
//
// RDB-Pr-Fl-Opt, and RDB-Pr-NS-Opt with it. The figures are µs of the processor
// for a query of the log at 100,000 keywords (go test -bench Tuning -tuned
// 100000; about 2 % apart from run to run), all cached; at 430,000 the order is
// the same, 350 against 590 in blocks.
//
// Where everything is in memory (Options.CacheBytes 0):
//
//   - Both databases in plain tables: made for memory, mapped, a hash table finds
//     the prefix or key, no blocks, no checksums, no cache: 78. Records in blocks
//     with a hash index instead: 127; keywords in blocks: 80; both: 130.
//   - The hash table is the prefix filter; a Bloom filter beside it brings
//     nothing (76 to 79), nor do emptier hash tables (79 at 0.75), and a prefix
//     written once for all its keys costs time (81).
//   - One file in level 0, nothing in the log, opened read-only with all files
//     open: RocksDB then looks a record up in that file and nowhere else
//     (CompactedDBImpl).
//
// Where the cache is smaller than the data: blocks, with prefixes' Bloom filter
// for keywords; format 5; indexes and filters in memory for good, not in the
// cache (130, in the cache 141); LZ4, which costs nothing when cached (131
// without) and halves what has to be read; blocks of 16 KiB for keywords (4 KiB:
// 135) and 4 KiB with a hash index for records (1 KiB: 136; without index: 133);
// no filter of records, for all that are looked up are there (138 with).
//
// In the code, for both:
//
//   - one iterator for each searcher, kept open, one seek a word;
//   - one call from Go for a batch of up to 256 matches with their records; most
//     queries need one;
//   - words are hashes; most keywords end at a bit of the query's signature, the
//     rest are compared with at most 32 numbers; the first word is not looked at;
//     numbers of half the size would make values a third shorter, but
//     RDB-Pr-NS-Opt, whose values are shorter still, is no quicker;
//   - keys and values are read where they lie, the record as well (package record:
//     a sixth of what generated code takes);
//   - the prefix is compared here: RocksDB's own check at each step
//     (prefix_same_as_start) takes 4 % more;
//   - RocksDB's counters of each step are off (6 %);
//   - records by one lookup each: its batched MultiGet took 10 % longer on what
//     is all in memory; ignoring range deletions brought nothing.
//
// What is left is RocksDB's own, four fifths of the time: 53 % in the steps of
// its iterator, through four layers each, 22 % in lookups of records, 4 % in
// seeks (perf at 100,000 keywords). Debian's library has its assertions compiled
// in; the product runs on the same one.
package rdb
