package memlimit

import (
	"fmt"

	"adshard/fault"
	"adshard/internal/node/config"
)

// Plan says how the memory of a process is divided, in bytes.
type Plan struct {
	// Heap bounds Go's heap.
	Heap int64
	// Data is the part of Go's heap for the terms, parents and caches of each store.
	Data uint64
	// Cache and Buffers are for each RocksDB: blocks that were read, and data that is not in files
	// yet.
	Cache, Buffers uint64
	// Bucket bounds a bucket of data. A slave applies one at a time, which takes about eleven times
	// its size: decoded, as a batch, and as RocksDB's bytes.
	Bucket int
}

const mib = 1 << 20

const (
	// program is for the pages of the program and its libraries, and for Go's own tables.
	program = 66 * mib
	// working is for searches and changes under way, and for garbage that has not been collected
	// yet.
	working = 32 * mib
	// native is for RocksDB's indexes and filters, and for memory that the C allocator keeps.
	native = 8 * mib
	// leastData is for the smallest useful store.
	leastData = 8 * mib
	// The least and the greatest size of write buffers.
	leastBuffers, mostBuffers = 4 * mib, 128 * mib
	// leastBucket is the smallest bucket with which a slave is filled quickly.
	leastBucket = mib / 2
)

// Least returns the least memory with which a process with this number of slaves can work.
func Least(slaves int) config.Size {
	each := leastData + leastData/garbage + native + leastBuffers + leastBuffers/2
	return config.Size(program + working + slaves*each*20/16)
}

// garbage is the divisor that gives the part of the data that may be garbage.
const garbage = 8

// Divide divides the memory of a process among its slaves. Errors: fault.Invalid if it is less than
// Least.
func Divide(memory config.Size, slaves int) (Plan, error) {
	if least := Least(slaves); memory < least {
		return Plan{}, fault.Field("config", "memory", "memory: %v is too little for %s; give at least %v", memory, count(slaves), least)
	}
	each := (uint64(memory) - program - working) / uint64(slaves)
	p := Plan{
		Cache: each / 32, Buffers: min(max(each/16, leastBuffers), mostBuffers),
		Bucket: max(int(each/64), leastBucket),
	}
	// A full buffer stays in memory next to the new one until it has been written to a file.
	rest := each - native - each/64 - p.Cache - p.Buffers - p.Buffers/2
	p.Data = rest / (garbage + 1) * garbage
	p.Heap = int64(uint64(slaves)*rest + working)
	return p, nil
}

func count(slaves int) string {
	if slaves == 1 {
		return "a slave"
	}
	return fmt.Sprintf("%d slaves", slaves)
}

// MostAlways returns the most bytes that a store may always keep in memory.
func (p Plan) MostAlways() uint64 { return p.Data / 2 }

// Check returns an error if the data that a store always keeps in memory leaves too little for
// caches. Errors: fault.Invalid.
func (p Plan) Check(memory config.Size, always uint64) error {
	if always <= p.MostAlways() {
		return nil
	}
	more := config.Size(2*always-p.Data) * 3 / 2
	return fault.Field("config", "memory",
		"memory: %v is too little for this store: its terms and campaigns alone take %v of the %v that are left for data; give at least %v",
		memory, config.Size(always), config.Size(p.Data), (memory + more + mib - 1).Rounded())
}
