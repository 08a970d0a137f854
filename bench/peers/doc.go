// Package peers holds the systems that people would use today to find the keywords that match a
// query, as layouts of bench/layouts: the same keywords, the same queries, the same answers,
// shown by the same suite before anything is measured. Each starts when it is built, is warm
// when it is ready, searches with one thread a searcher, and ends when its store is closed; its
// tuning is in its package's comment. One that is not installed says what is missing;
// deploy/peers.sh installs all.
//
// Goals: each is tuned as an expert in it would. Non-goals: what else they can
// do.
package peers
