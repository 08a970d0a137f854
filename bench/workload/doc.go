// Package workload makes streams of queries: what is asked, how often, and when. A workload is
// a deterministic sequence of times and queries, so that each strategy and each run gets the
// same one.
//
// Popularity is real where possible. Real logs keep their own frequencies. Queries derived
// from the corpus' titles get the popularity curve of Wikipedia's articles (views in June
// 2023), rank by rank: the words of those articles are seldom in ads, but their skew comes
// from real people.
//
// Non-goals: sessions, users, clicks.
package workload
