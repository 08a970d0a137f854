package targeting

import "github.com/cespare/xxhash/v2"

// hostFilter tells of nearly all hosts that are not in a large set that they are not, by one access to memory: of each entry two
// bits of one word (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007). nil: it knows nothing.
type hostFilter []uint64

// filtered is the size from which on a set has a filter: smaller ones are in the processor's cache themselves.
const filtered = 4096

// newHostFilter returns the filter of a set; nil: it is small.
func newHostFilter(list []string) hostFilter {
	if len(list) < filtered {
		return nil
	}
	words := 1
	for 4*words < len(list) { // 16 bits an entry or more
		words *= 2
	}
	f := make(hostFilter, words)
	for _, host := range list {
		word, bits := f.place(host)
		*word |= bits
	}
	return f
}

func (f hostFilter) place(host string) (word *uint64, bits uint64) {
	h := xxhash.Sum64String(host)
	return &f[h&uint64(len(f)-1)], 1<<(h>>58) | 1<<(h>>52&63)
}

// may reports whether a host may be in the set.
func (f hostFilter) may(host string) bool {
	if f == nil {
		return true
	}
	word, bits := f.place(host)
	return *word&bits == bits
}
