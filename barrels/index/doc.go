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
// Non-goals: deciding what matches and wins (barrels/query), changing the store
// (package barrels).
package index
