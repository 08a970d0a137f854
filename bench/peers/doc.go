// Package peers holds the systems that people would use today to find the keywords that match a
// query, as layouts of bench/layouts: the same keywords, the same queries, and the same
// answers, which the same suite checks before anything is measured. Each peer starts when it is
// built, is warm when it is ready, searches with one thread per searcher, and ends when its
// store is closed. Its tuning is described in its package's comment. A peer that is not
// installed says what is missing; deploy/peers.sh installs all of them.
//
// Goals: each peer is tuned as an expert in it would tune it. Non-goals: what else they can do.
package peers
