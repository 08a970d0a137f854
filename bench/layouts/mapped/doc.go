// Package mapped implements the layout B of the thesis: the barrels of the
// original system, as far as the thesis describes them (Balancing Keyword-Based
// Data and Queries, sections 2.3, 6.6.1 and 7.3).
//
// The thesis says: the data are in separate key-value stores, barrels, each of
// which is built whole and never changed; they combine Protocol Buffers with their
// own indexes and structures; the data that decide on a match are separate from
// the rest; access to one of the barrels is not friendly to the processor's
// caches, whereas the layouts in RocksDB read neighbours. The rest was chosen
// here:
//
//   - barrel "words": first word (hash) to the positions of the keywords that
//     begin with it;
//   - barrel "matching": by position, the hashes of the words after the first.
//     Positions are in the order of ids, so that the keywords of a first word are
//     scattered: this is the unfriendly access;
//   - barrel "keywords": by position, the record (package record).
//
// A barrel is one file in memory (mmap). Its values are found by a table of ends,
// its keys by interpolation, since they are hashes. Values are read in place.
//
// Tuning: positions instead of ids save a search for each keyword. Ends are
// checked once, when the file is opened, and not at each access.
// Options.CacheBytes has no effect: the kernel decides which part of the files
// stays in memory, so a limit has to be set for the process.
package mapped
