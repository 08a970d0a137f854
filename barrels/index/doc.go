// Package index is what searches read of a store at one moment, and the caches
// that make reading it cheap: a Snapshot of the data with the term Dictionary,
// the campaigns and advertisers (Parents) and the slices served (Slices, Served).
//
// The dictionary caches posting lists: blocks copied once, verified, and prepared
// for searches (Block: classes of postings with a signature each). A block caches
// impacts, what statuses, budgets and modifiers make of its postings on a device
// (Impacts). A cached value holds for the states from the one that read it to the
// next change, so that it is exact for the state that asks; docs/decisions/010-search-near-the-floor.md
// says what each form brings.
//
// Non-goals: deciding what matches and wins (barrels/query), changing the store
// (package barrels).
package index
