package search

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// ShardID names a searcher of a part of the ring: a hash of the shard's name, the database whose
// data it holds, and the timeline of the slice map in which its views are numbered. Each query and
// each answer carries it: a searcher refuses a request for another id, and its caller refuses an
// answer with another id. 0 means that nothing is checked.
type ShardID uint64

// NewShardID returns the id of a shard. It is never 0.
func NewShardID(database, timeline, shard string) ShardID {
	var b []byte
	for _, part := range []string{database, timeline, shard} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return ShardID(max(1, xxhash.Sum64(b)))
}
