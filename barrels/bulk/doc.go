// Package bulk writes a whole store at once, offline, with the same bytes as a
// store that applied the same items: document frequencies first, then anchors,
// pages and full blocks, sorted, each written once.
//
// Non-goals: where the sorted runs go (kv.Runs; barrels/rocks), changing an existing store (package
// barrels).
package bulk
