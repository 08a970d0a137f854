// Package workload makes streams of queries: what is asked, how often, and
// when. A workload is a deterministic sequence of (time, query), so that each
// strategy and each run meets the same one.
//
// Popularity is real where possible: real logs keep their own frequencies, and queries derived
// from the corpus' titles take the popularity curve of Wikipedia's articles (views of June
// 2023), rank by rank, since the words of those articles are seldom in ads but their skew is
// that of people.
//
// Non-goals: sessions, users, clicks.
package workload
