package footprint

import (
	"runtime"
	"runtime/metrics"

	"adshard/barrels/kv"
	"adshard/bench/measure"
)

// Cause is a part of the process' memory.
type Cause struct {
	Name  string
	Bytes int64
}

// Table holds the memory of the process by cause.
type Table struct {
	Causes []Cause
	// Resident is the resident memory that the system reports; the causes add up to it
	// except for Unexplained.
	Resident, Unexplained int64
	// Profile is the memory of the profile, which only a process that measures itself has.
	Profile int64
}

// ProfileRate is the rate of the memory profile (runtime.MemProfileRate) that a
// table needs. A process must set it before it allocates.
const ProfileRate = 512

// Measure breaks down the memory of this process. Live objects are counted after a
// garbage collection, all other memory before it. db is RocksDB's share.
func Measure(db kv.Memory) (*Table, error) {
	m, err := measure.MemoryOf(0)
	if err != nil {
		return nil, err
	}
	inGo, native := goClasses(), mallocated()
	live, total := liveObjects()
	t := &Table{Resident: int64(m.Resident)}
	t.add("pages of the program and of files", int64(m.Resident-m.Anonymous))
	t.Causes = append(t.Causes, live...)
	t.add("Go: objects not yet collected", inGo.objects-total)
	t.add("Go: slots without an object", inGo.unused)
	t.add("Go: free pages not yet returned", inGo.free)
	t.add("Go: stacks", inGo.stacks)
	t.add("Go: the runtime's own", inGo.other)
	t.add("Go: the profile that this table is made from", inGo.profile)
	t.Profile = inGo.profile
	t.add("RocksDB: blocks read", int64(db.Cache))
	t.add("RocksDB: write buffers", int64(db.Buffers))
	t.add("RocksDB: indexes and filters", int64(db.Tables))
	t.add("C: all else", native.used-int64(db.Cache+db.Buffers+db.Tables))
	t.add("C: free and not returned", native.free)
	t.Unexplained = t.Resident
	for _, c := range t.Causes {
		t.Unexplained -= c.Bytes
	}
	return t, nil
}

func (t *Table) add(name string, bytes int64) { t.Causes = append(t.Causes, Cause{name, bytes}) }

// classes holds the sizes of the parts of what Go holds, in bytes.
type classes struct{ objects, unused, free, stacks, other, profile int64 }

// goClasses reads the sizes without a garbage collection.
func goClasses() classes {
	const heap, meta = "/memory/classes/heap/", "/memory/classes/metadata/"
	names := []string{
		heap + "objects:bytes", heap + "unused:bytes", heap + "free:bytes", heap + "stacks:bytes",
		"/memory/classes/os-stacks:bytes", "/memory/classes/profiling/buckets:bytes", "/memory/classes/other:bytes",
		meta + "mcache/inuse:bytes", meta + "mcache/free:bytes", meta + "mspan/inuse:bytes", meta + "mspan/free:bytes",
		meta + "other:bytes",
	}
	samples := make([]metrics.Sample, len(names))
	for i := range names {
		samples[i].Name = names[i]
	}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	c := classes{objects: value(0), unused: value(1), free: value(2), stacks: value(3) + value(4), profile: value(5)}
	for i := 6; i < len(samples); i++ {
		c.other += value(i)
	}
	return c
}

// liveObjects runs a garbage collection and sums up the objects left by the code
// that made them.
func liveObjects() (causes []Cause, total int64) {
	runtime.GC() // a profile shows the state after the last garbage collection but one
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1024)
	n, ok := runtime.MemProfile(records, true)
	for !ok {
		records = make([]runtime.MemProfileRecord, n+n/4)
		n, ok = runtime.MemProfile(records, true)
	}
	sums := make([]int64, len(sites)+1)
	for i := range records[:n] {
		r := &records[i]
		bytes := scaled(r.InUseObjects(), r.InUseBytes())
		sums[siteOf(r.Stack())] += bytes
	}
	for i, s := range sites {
		causes, total = append(causes, Cause{s.cause, sums[i]}), total+sums[i]
	}
	return append(causes, Cause{"all other objects", sums[len(sites)]}), total + sums[len(sites)]
}
