package targeting

import "github.com/cespare/xxhash/v2"

// filter tells of nearly all that is not in a set that it is not, by one access to memory: of each entry two bits of one word (Putze,
// Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007). nil: it knows nothing.
type filter []uint64

// filtered is the size from which on a set has a filter: smaller ones are searched as fast.
const filtered = 32

// newFilter returns an empty filter for n entries; nil: they are few.
func newFilter(n int) filter {
	if n < filtered {
		return nil
	}
	words := 1
	for 4*words < n { // 16 bits an entry or more
		words *= 2
	}
	return make(filter, words)
}

func (f filter) place(hash uint64) (word *uint64, bits uint64) {
	return &f[hash&uint64(len(f)-1)], 1<<(hash>>58) | 1<<(hash>>52&63)
}

// add adds an entry by its hash.
func (f filter) add(hash uint64) {
	if f != nil {
		word, bits := f.place(hash)
		*word |= bits
	}
}

// may reports whether an entry with a hash may be in the set.
func (f filter) may(hash uint64) bool {
	word, bits := f.place(hash)
	return *word&bits == bits
}

func hashText(s string) uint64 { return xxhash.Sum64String(s) }

// hashID mixes a number, whose neighbours are in the set more often than not (the finaliser of SplitMix64).
func hashID(id uint64) uint64 {
	id = (id ^ id>>30) * 0xbf58476d1ce4e5b9
	id = (id ^ id>>27) * 0x94d049bb133111eb
	return id ^ id>>31
}
