// Package index is what searches read of a store at one moment, and the caches that make this cheap: a
// Snapshot of the data with the term Dictionary, the campaigns and advertisers (Parents) and the slices
// served (Slices, Served).
//
// The dictionary caches posting lists: blocks copied once, verified, and prepared for searches (Block:
// classes of postings with a signature each). A block caches impacts: what statuses, budgets and
// modifiers make of its postings on a device (Impacts). A cached value is valid from the state that
// read it until the next change, so it is exact for the state that uses it;
// docs/decisions/010-search-near-the-floor.md says what each form gains.
//
// The caches share the memory that terms and parents leave (Budget): lists, groups, displays and sets of hosts have no fixed fractions. A
// cache that fills takes what is free; when nothing is, room moves step by step to the cache whose misses cost most for each byte it has,
// from the one whose misses cost least. An eighth of what each may count on is never taken away, so that none is starved, and what is
// prepared ahead of searches is counted by those fixed parts.
//
// Non-goals: deciding what matches and wins (barrels/query), changing the store
// (package barrels).
package index
