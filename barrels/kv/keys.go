package kv

import "encoding/binary"

// Keys are big-endian, so that their bytes sort like the numbers.

// AppendKey appends a key that consists of the given numbers.
func AppendKey(dst []byte, parts ...uint64) []byte {
	for _, p := range parts {
		dst = binary.BigEndian.AppendUint64(dst, p)
	}
	return dst
}

// KeyPart returns the i-th number of a key.
func KeyPart(key []byte, i int) uint64 { return binary.BigEndian.Uint64(key[8*i:]) }

// Kinds of parents, the first byte of their keys.
const (
	AdvertiserKind = 'a'
	CampaignKind   = 'c'
)

// AppendParentKey appends the key of a parent's record.
func AppendParentKey(dst []byte, kind byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kind), id)
}

// GroupRecord takes the place of a keyword's id in the key of the group's own record. The record
// thus comes before the group's pages, so that one seek and one step find both.
const GroupRecord = 0

// Keys of the family Meta.
var (
	MetaFormat   = []byte("format")
	MetaWords    = []byte("words")
	MetaPosition = []byte("position")
	MetaSlices   = []byte("slices")
	MetaCounters = []byte("counters")
	MetaOrphans  = []byte("strays") // strays is the name on disk
	MetaBuilder  = []byte("builder")
	MetaPurge    = []byte("purge")
)

// Place is a posting's position in the posting list of its term: lists are ordered by the ring key
// of the group, then by the id of the keyword.
type Place struct{ Key, Keyword uint64 }

// Less reports whether p comes before q.
func (p Place) Less(q Place) bool {
	if p.Key != q.Key {
		return p.Key < q.Key
	}
	return p.Keyword < q.Keyword
}
