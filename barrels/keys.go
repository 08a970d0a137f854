package barrels

import "encoding/binary"

// Keys are big-endian, so that bytes order as numbers do.

func appendKey(dst []byte, parts ...uint64) []byte {
	for _, p := range parts {
		dst = binary.BigEndian.AppendUint64(dst, p)
	}
	return dst
}

// keyPart returns the i-th number of a key.
func keyPart(key []byte, i int) uint64 { return binary.BigEndian.Uint64(key[8*i:]) }

// Kinds of parents: the first byte of their keys.
const (
	parentAdvertiser = 'a'
	parentCampaign   = 'c'
)

func appendParentKey(dst []byte, kind byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kind), id)
}

// groupRecord stands in place of a keyword's id in the key of the group's own
// record: it lies before its pages, so that one seek and one step find both.
const groupRecord = 0

// Keys of the family Meta.
var (
	metaFormat   = []byte("format")
	metaWords    = []byte("words")
	metaPosition = []byte("position")
	metaSlices   = []byte("slices")
	metaCounters = []byte("counters")
	metaStrays   = []byte("strays")
	metaBuilder  = []byte("builder")
	metaPurge    = []byte("purge")
)

// place is where an entry stands among the postings of a term, and a keyword
// among all.
type place struct{ key, keyword uint64 }

func (p place) less(q place) bool {
	if p.key != q.key {
		return p.key < q.key
	}
	return p.keyword < q.keyword
}
