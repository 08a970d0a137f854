// Package block is the codec of matching data: up to some two hundred keyword
// postings under one anchor term as FlatBuffers bytes (schema/fbs/block.fbs)
// with a checksum, read in place by each query.
//
// A View decides on the bytes without allocating; an Encoder writes blocks
// from views and new entries, with the bounds that let a search skip a
// block that cannot win. FlatBuffers has no verifier in Go: a View checks the
// checksum and the structure once, when it is opened.
//
// Non-goals: keys, column families, the impact of a posting on a query.
package block
