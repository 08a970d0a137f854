package index

import (
	"math/bits"
	"sync/atomic"
)

// doorkeeper is the admission filter of a full cache: it admits a key when it is requested for the
// second time, so that keys requested only once do not displace those requested often. It is the
// doorkeeper of TinyLFU without its counts (Einziger, Friedman, Manes 2017, section 3.4). Keys with
// the same hash are admitted together.
type doorkeeper struct {
	seen []atomic.Uint64 // one bit for each hash; the number of bits is a power of 2
	most int64           // number of bits that may be set before all are cleared
	set  atomic.Int64
}

// usualEntry is the usual size of a cache entry in bytes.
const usualEntry = 1 << 10

// newDoorkeeper returns the filter of a cache of the given size in bytes. It remembers about as
// many keys as the cache has entries, with eight bits for each.
func newDoorkeeper(bytes uint64) doorkeeper {
	most := max(64, bytes/usualEntry)
	return doorkeeper{seen: make([]atomic.Uint64, 1<<bits.Len64(most/8-1)), most: int64(most)}
}

// admit reports whether a key was requested before, and remembers it.
func (n *doorkeeper) admit(key uint64) bool {
	h := key * 0x9e3779b97f4a7c15
	word, bit := &n.seen[h>>20&uint64(len(n.seen)-1)], uint64(1)<<(h>>58)
	if word.Load()&bit != 0 {
		return true
	}
	word.Or(bit)
	if n.set.Add(1) >= n.most {
		n.set.Store(0)
		for i := range n.seen {
			n.seen[i].Store(0)
		}
	}
	return false
}
