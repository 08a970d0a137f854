package barrels

import "encoding/binary"

// counters are the sizes that are kept with the data, in the same batch.
type counters struct {
	groups, keywords, postings, blocks, terms int64
}

// The value on disk: five little-endian uint64.

func (c *counters) append(dst []byte) []byte {
	for _, n := range []int64{c.groups, c.keywords, c.postings, c.blocks, c.terms} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

func parseCounters(b []byte) (c counters, ok bool) {
	if len(b) != 5*8 {
		return c, false
	}
	for i, n := range []*int64{&c.groups, &c.keywords, &c.postings, &c.blocks, &c.terms} {
		*n = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return c, true
}
