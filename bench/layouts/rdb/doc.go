// Package rdb implements the eight layouts of the thesis that use RocksDB (Balancing
// Keyword-Based Data and Queries, sections 6.6 and 7.1), under the same names. It adds two
// layouts that show the effect of parts of them (see Caches), and two with Cap'n Proto, which
// section 9.3 proposes: RDB-Pr-Cp and RDB-Pr-Cp-Opt are RDB-Pr-Fl and RDB-Pr-Fl-Opt with that
// serialization. Its Go library (capnproto.org/go/capnp/v3, MIT) has had only alpha versions
// since 2022 and calls itself beta. The readers in C++, of this and of FlatBuffers, were
// written here.
//
// All layouts store a keyword under its first word, as one pair whose key is the hash of the
// first word (8 bytes, search/words) and the keyword's id. A search reads, for each word of the
// query, all keywords that begin with it and decides whether all their words are in the query.
// The table in designs.go lists the differences: how values are encoded, whether the data that
// decide on a match are separate from the rest of a keyword, how RocksDB is tuned, and how far
// the code is optimised.
//
// Goals: each layout as the thesis describes it, and none worse than necessary; RDB-Pr-Fl-Opt
// as good as its idea permits, since others are compared with it. The thesis' programs were
// written in C++, like RocksDB. A call from Go into C for each pair would take most of the
// time; therefore all layouts read through a small engine in C++ (engine.h), and those whose
// names end in NS-Opt, Fl-Opt and Cp-Opt also decide there.
//
// Non-goals: changes (the databases are opened read-only, as in the thesis' measurements),
// inflected words, negatives.
//
// # Caches
//
// For all but the last two layouts the thesis says nothing about caches. Here each database
// explicitly has RocksDB's default at the time of the thesis, its own cache of 8 MiB (or less,
// if Options.CacheBytes is less), with the system's page cache below it.
//
// According to the thesis, it matters whether indexes and filters are in that cache. By
// default, RocksDB keeps them outside. But the thesis moves them outside as a step, for the
// first database with RDB-Pr-Opt and "also at Keyword RocksDB" with RDB-Pr-NS-Opt, and calls
// the effect of the second step tremendous: in the second database they must have been inside
// before, and so they are here. For the first database it does not say where they were before
// that step: RDB-Pr has the default, RDB-Pr-In has them inside.
//
// Look-ups of records are not tuned in the layouts up to RDB-Pr-NS. RDB-Pr-Fl-Told is RDB-Pr-Fl
// with what the thesis says about the last step: optimised code, indexes and filters outside
// the cache, tuned look-ups. RDB-Pr-Fl-Opt also has all of the following.
//
// # The baseline's tuning
//
// This is the tuning of RDB-Pr-Fl-Opt and RDB-Pr-NS-Opt. The figures are µs of processor time
// for a query of the log with 100,000 keywords (go test -bench Tuning -tuned 100000; runs
// differ by about 2 %), everything cached. With 430,000 keywords the order is the same, with
// 350 in plain tables and 590 in blocks.
//
// If everything is in memory (Options.CacheBytes 0):
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
// If the cache is smaller than the data: blocks, with a Bloom filter of prefixes for keywords;
// format 5; indexes and filters always in memory, not in the cache (130, in the cache 141);
// LZ4, which costs nothing when cached (131 without) and halves what has to be read; blocks of
// 16 KiB for keywords (4 KiB: 135) and 4 KiB with a hash index for records (1 KiB: 136; without
// index: 133); no filter of records, because all records that are looked up exist (138 with).
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
// The rest, four fifths of the time, is RocksDB's own: 53 % in the steps of its iterator, each
// through four layers, 22 % in lookups of records, 4 % in seeks (perf at 100,000 keywords).
// Debian's library has its assertions compiled in; the product runs on the same one.
package rdb
