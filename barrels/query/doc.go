// Package query answers searches and explanations from a snapshot of a store.
// docs/search.md describes how a query is processed, stage by stage:
//
//	postings   posting lists of the query's terms, cached or read
//	pruner     which blocks can still win (block-max)
//	scan       blocks → signatures → classes of postings that match
//	eligibility, impacts   the one rule of who may be shown, and its cache
//	ranking    counts, and the top k of distinct advertisers
//	page       the same for each filter of a page with placements, or with a scorer
//	scorer     what the request's scorer makes of a candidate's quality
//	hits, pagehits   what answers show of the best
//	explanation   the same scan and rule, for every keyword that matches
//	wanted     the same rule for keywords by name, which need not match: reads all groups
//
// Each stage uses only those above it in this list; an execution combines them. A search that finds
// everything in the caches allocates only its answer.
package query
