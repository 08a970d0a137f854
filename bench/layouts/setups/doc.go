// Package setups makes the queries that layouts are asked in an experiment: the setups of the
// master thesis (section 7.2), and others for the questions that it leaves open.
//
//   - "log": queries of a log in their order.
//   - "words 1", 2, 4, … 32: queries of the given number of words, put together from the
//     log's queries, so that words are as common as they are there.
//   - "matches 0", 10, 1000, 10000, 100000: queries with approximately the given number of matches,
//     found by adding words to queries of the log or leaving some out.
//   - "four 30", 3000, 30000: queries of the log with four words and approximately the given number of
//     matches, which show what matches cost by themselves.
//   - "hot": two to four of the 64 commonest words.
//   - "stop": one query of the 32 commonest words.
//   - "SQ": a single query with few matches (2 to 14 in the thesis).
//   - "SQ2": a single query with about 136 matches.
//   - "RQ1600": 1600 random queries of the log.
//
// In a setup whose name promises a number of matches, queries have up to a quarter more or
// less. If no query of the keywords has so many, the setup is missing.
//
// Goals: everything follows from set, log and seed. Non-goals: when a query is asked
// (bench/workload).
package setups
