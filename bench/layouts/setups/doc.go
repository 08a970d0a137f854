// Package setups makes the queries that layouts are asked in an experiment: the
// setups of the master thesis (section 7.2) and those that ask what it leaves
// open.
//
//   - "log": queries of a log as they come.
//   - "words 1", 2, 4, … 32: queries of the given number of words, each made of the
//     log's queries, so that words are as common as they are there.
//   - "matches 0", 10, 1000, 10000, 100000: queries with about a given number of matches, found by
//     search: of the log, then words added or left out.
//   - "four 30", 3000, 30000: queries of the log of four words with about a given number of
//     matches: what matches cost by themselves.
//   - "hot": two to four of the 64 commonest words.
//   - "stop": one query of the 32 commonest words.
//   - "SQ": a single query with few matches (the thesis': 2 to 14).
//   - "SQ2": a single query with about 136 matches.
//   - "RQ1600": 1600 random queries of the log.
//
// A setup whose name promises matches has queries with a quarter more or less;
// where no query of the keywords has so many, there is no such setup.
//
// Goals: everything follows from set, log and seed. Non-goals: when a query is
// asked (bench/workload).
package setups
