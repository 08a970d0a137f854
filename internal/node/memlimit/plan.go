package memlimit

import (
	"fmt"

	"adshard/fault"
	"adshard/internal/node/config"
)

// Plan is how the memory of a process is divided, in bytes.
type Plan struct {
	// Heap bounds Go's heap.
	Heap int64
	// Data is for terms, parents and caches of each store, in Go's heap.
	Data uint64
	// Cache and Buffers are of each RocksDB: blocks read, and data not yet in files.
	Cache, Buffers uint64
	// Bucket bounds a bucket of node data, of which a slave applies one at a time:
	// decoded, as a batch and as RocksDB's bytes it takes about eleven times as much.
	Bucket int
}

const mib = 1 << 20

const (
	// program is for pages of the program and of libraries, and Go's own tables.
	program = 66 * mib
	// working is for searches and changes under way, and what is not yet collected.
	working = 32 * mib
	// native is for RocksDB's indexes and filters, and what the C allocator holds.
	native = 8 * mib
	// leastData is for the smallest useful store.
	leastData = 8 * mib
	// least and most of write buffers.
	leastBuffers, mostBuffers = 4 * mib, 128 * mib
	// leastBucket is the least bucket with which a slave is filled quickly.
	leastBucket = mib / 2
)

// Least is the least memory with which a process of a number of slaves works.
func Least(slaves int) config.Size {
	each := leastData + leastData/garbage + native + leastBuffers + leastBuffers/2
	return config.Size(program + working + slaves*each*20/16)
}

// garbage is the share (one in so many) of the data that may be garbage meanwhile.
const garbage = 8

// Divide divides the memory of a process among its slaves. Errors: fault.Invalid
// when it is less than Least.
func Divide(memory config.Size, slaves int) (Plan, error) {
	if least := Least(slaves); memory < least {
		return Plan{}, fault.Field("config", "memory", "memory: %v is too little for %s; give at least %v", memory, count(slaves), least)
	}
	each := (uint64(memory) - program - working) / uint64(slaves)
	p := Plan{
		Cache: each / 32, Buffers: min(max(each/16, leastBuffers), mostBuffers),
		Bucket: max(int(each/64), leastBucket),
	}
	// A full buffer stays until it is written to a file, beside the next.
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

// MostAlways is how many bytes a store may keep in any case.
func (p Plan) MostAlways() uint64 { return p.Data / 2 }

// Check returns fault.Invalid if what a store always keeps leaves too little memory for
// what is cached.
func (p Plan) Check(memory config.Size, always uint64) error {
	if always <= p.MostAlways() {
		return nil
	}
	more := config.Size(2*always-p.Data) * 3 / 2
	return fault.Field("config", "memory",
		"memory: %v is too little for this store: its terms and campaigns alone take %v of the %v that are left for data; give at least %v",
		memory, config.Size(always), config.Size(p.Data), (memory + more + mib - 1).Rounded())
}
