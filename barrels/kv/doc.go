// Package kv is the contract between a slave's store and the key-value store
// below it: column families and their keys, snapshots, atomic batches, sorted
// runs for offline builds, and the errors of damaged values. barrels/rocks and
// barrels/memory implement it. docs/format.md describes keys and values.
//
// Non-goals: what values mean; caches of decoded values.
package kv
