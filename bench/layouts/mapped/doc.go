// Package mapped has the layout B of the thesis: the barrels of the original
// system, as far as it describes them (Balancing Keyword-Based Data and Queries,
// sections 2.3, 6.6.1 and 7.3).
//
// What the thesis says: the data lie in separate key-value stores, barrels, each
// built whole and never changed; they combine Protocol Buffers with indexing and
// structuring of their own; the data that decide on a match are apart from the
// rest; the access to one of the barrels is not friendly to the processor's
// caches, where the layouts in RocksDB read neighbours. What is ours:
//
//   - barrel "words": first word (hash) to the positions of the keywords that
//     begin with it;
//   - barrel "matching": by position, the hashes of the words after the first.
//     Positions are in the order of ids, so that each keyword of a first word lies
//     somewhere else: the access that is not friendly;
//   - barrel "keywords": by position, the record (package record).
//
// A barrel is one file in memory (mmap), its values found by a table of ends;
// keys by interpolation, since they are hashes. Values are read where they lie.
//
// Tuning: positions instead of ids spare a search for each keyword; ends are
// checked once, at opening, and not at each access. Options.CacheBytes does not
// apply: what of the files stays in memory is the kernel's decision, so a limit
// has to be put on the process.
package mapped
