// Package block is the codec of matching data: up to about two hundred keyword postings under one
// anchor term, as FlatBuffers bytes (schema/fbs/block.fbs) with a checksum, read in place by each
// query.
//
// A View reads the bytes in place without allocating. An Encoder writes blocks from views and new
// entries, with bounds that let a search skip a block that cannot win. FlatBuffers has no verifier
// in Go: a View checks the checksum and the structure once, when it is opened.
//
// Non-goals: keys, column families, the impact of a posting on a query.
package block
