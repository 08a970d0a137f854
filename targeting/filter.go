package targeting

import "github.com/cespare/xxhash/v2"

// filter recognises nearly all entries that are not in a set with one memory access. It has two bits in one word for each entry
// (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007). A nil filter recognises none.
type filter []uint64

// filtered is the size from which a set has a filter. Smaller sets are searched just as fast.
const filtered = 32

// newFilter returns an empty filter for n entries, or nil if they are too few for one.
func newFilter(n int) filter {
	if n < filtered {
		return nil
	}
	words := 1
	for 4*words < n { // at least 16 bits per entry
		words *= 2
	}
	return make(filter, words)
}

func (f filter) place(hash uint64) (word *uint64, bits uint64) {
	return &f[hash&uint64(len(f)-1)], 1<<(hash>>58) | 1<<(hash>>52&63)
}

// add adds an entry with the given hash.
func (f filter) add(hash uint64) {
	if f != nil {
		word, bits := f.place(hash)
		*word |= bits
	}
}

// may reports whether an entry with the given hash may be in the set.
func (f filter) may(hash uint64) bool {
	word, bits := f.place(hash)
	return *word&bits == bits
}

func hashText(s string) uint64 { return xxhash.Sum64String(s) }

// hashID mixes a number (the finaliser of SplitMix64), since its neighbours are likely to be in the set as well.
func hashID(id uint64) uint64 {
	id = (id ^ id>>30) * 0xbf58476d1ce4e5b9
	id = (id ^ id>>27) * 0x94d049bb133111eb
	return id ^ id>>31
}
