package index

import "encoding/binary"

// Counters are the sizes that are stored with the data, in the same batch.
type Counters struct {
	Groups, Keywords, Postings, Blocks, Terms int64
}

// Append appends the counters as they are on disk: five little-endian uint64.
func (c *Counters) Append(dst []byte) []byte {
	for _, n := range []int64{c.Groups, c.Keywords, c.Postings, c.Blocks, c.Terms} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

func parseCounters(b []byte) (c Counters, ok bool) {
	if len(b) != 5*8 {
		return c, false
	}
	for i, n := range []*int64{&c.Groups, &c.Keywords, &c.Postings, &c.Blocks, &c.Terms} {
		*n = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return c, true
}
