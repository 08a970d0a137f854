package index

import (
	"math/bits"
	"sync/atomic"
)

// newcomers remembers, roughly, which keys were wanted of late while a cache was full.
// A key that is wanted for the second time is admitted; one that is wanted once displaces
// nothing that is wanted again and again. (The doorkeeper of TinyLFU, without its counts:
// Einziger, Friedman, Manes 2017, section 3.4.) Keys with one hash are admitted together.
type doorkeeper struct {
	seen []atomic.Uint64 // a bit for each hash; their number is a power of 2
	most int64           // bits that may be set: then all are forgotten
	set  atomic.Int64
}

// usualEntry is about what an entry of a cache takes, in bytes.
const usualEntry = 1 << 10

// newDoorkeeper returns those of a cache of so many bytes. About as many keys as it has
// entries are remembered at a time, with eight bits for each.
func newDoorkeeper(bytes uint64) doorkeeper {
	most := max(64, bytes/usualEntry)
	return doorkeeper{seen: make([]atomic.Uint64, 1<<bits.Len64(most/8-1)), most: int64(most)}
}

// again reports whether a key was wanted before, and notes it if not.
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
