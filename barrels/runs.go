package barrels

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"sort"
	"sync"
)

// WithRuns returns a KV that keeps runs of kv in memory, in up to size bytes:
// all keys and values under one prefix, as searches read them. A search that
// finds its runs there does not call kv at all; for RocksDB that saves most of
// what a search costs (docs/decisions/005-runs-in-memory.md).
//
// A run belongs to the batches that were written when it was read. A batch
// drops the runs that it touches before it is written; a snapshot that is
// older than the last drop in a run's part of the cache reads kv and leaves
// nothing behind.
func WithRuns(kv KV, size uint64) KV {
	c := &runCache{KV: kv, seed: maphash.MakeSeed()}
	for i := range c.parts {
		c.parts[i].room = int(size / runParts)
	}
	return c
}

// runParts is the number of parts with a lock of their own.
const runParts = 64

// maxRunBytes is the largest run that is kept; the rare longer ones are read
// block by block.
const maxRunBytes = 64 << 10

// runOverhead is what a run and an entry of it take beside keys and values.
const runOverhead, entryOverhead = 160, 64

type runCache struct {
	KV
	seed  maphash.Seed // terms are chosen by advertisers: no fixed hash
	parts [runParts]runPart
	// written counts batches. It is changed by the one writer and read by
	// whoever takes a snapshot, which the store does in the same goroutine.
	written uint64
}

type runPart struct {
	mu      sync.Mutex
	runs    map[runName]*keptRun
	order   []runName // of runs, around the clock; a run knows its place
	hand    int
	room    int
	dropped uint64 // the batch that last dropped something here
}

type runName struct {
	family Family
	prefix uint64
}

// keptRun is what lies under one prefix of 8 bytes, by rising key. It is never
// written to.
type keptRun struct {
	entries []runEntry
	long    bool // too long to be kept: entries is empty
	size    int
	place   int  // in the part's order
	used    bool // since the hand last came by; both guarded by the part's lock
}

type runEntry struct{ key, value []byte }

// part returns where a run lies.
func (c *runCache) part(n runName) *runPart {
	return &c.parts[maphash.Comparable(c.seed, n)%runParts]
}

// Snapshot implements KV.
func (c *runCache) Snapshot() Snapshot {
	return &runSnapshot{Snapshot: c.KV.Snapshot(), cache: c, at: c.written}
}

// Write implements KV.
func (c *runCache) Write(b *Batch) error {
	c.written++
	for i := range b.Len() {
		op := b.Op(i)
		switch {
		case op.Family.PrefixLen() != 8:
		case op.Kind == Clear:
			c.dropAll()
		default:
			c.drop(runName{op.Family, binary.BigEndian.Uint64(op.Key)})
		}
	}
	return c.KV.Write(b)
}

// Reopen implements KV. What was written last may be gone then.
func (c *runCache) Reopen() error {
	c.written++
	c.dropAll()
	return c.KV.Reopen()
}

func (c *runCache) drop(n runName) {
	p := c.part(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped = c.written
	if p.runs[n] != nil {
		p.remove(n)
	}
}

// remove takes a run out; the last in the order takes its place.
func (p *runPart) remove(n runName) {
	r, last := p.runs[n], len(p.order)-1
	p.order[r.place] = p.order[last]
	p.runs[p.order[r.place]].place = r.place
	p.order = p.order[:last]
	p.room += r.size
	delete(p.runs, n)
}

func (c *runCache) dropAll() {
	for i := range c.parts {
		p := &c.parts[i]
		p.mu.Lock()
		for _, r := range p.runs {
			p.room += r.size
		}
		p.runs, p.order, p.hand, p.dropped = nil, nil, 0, c.written
		p.mu.Unlock()
	}
}

// find returns a run for a snapshot taken after batch at; nil: not here.
func (p *runPart) find(n runName, at uint64) *keptRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at < p.dropped {
		return nil
	}
	r := p.runs[n]
	if r != nil {
		r.used = true
	}
	return r
}

// keep adds a run that a snapshot taken after batch at has read.
func (p *runPart) keep(n runName, r *keptRun, at uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at < p.dropped || p.runs[n] != nil {
		return
	}
	if p.runs == nil {
		p.runs = make(map[runName]*keptRun)
	}
	p.room -= r.size
	r.place = len(p.order)
	p.runs[n] = r
	p.order = append(p.order, n)
	for p.room < 0 && len(p.order) > 0 {
		p.evict()
	}
}

// evict moves the hand by one (the clock algorithm): a run that was not used
// since it last came by goes.
func (p *runPart) evict() {
	p.hand %= len(p.order)
	n := p.order[p.hand]
	if r := p.runs[n]; r.used {
		r.used = false
		p.hand++
		return
	}
	p.remove(n)
}

// runSnapshot reads through the cache.
type runSnapshot struct {
	Snapshot
	cache *runCache
	at    uint64 // the batches written when it was taken
}

// Prefix implements Snapshot.
func (s *runSnapshot) Prefix(f Family) Iterator {
	if f.PrefixLen() != 8 {
		return s.Snapshot.Prefix(f)
	}
	return &runIterator{snapshot: s, family: f}
}

// uncached returns the snapshot below the cache: writers read what they are
// about to change, which is not worth keeping.
func uncached(s Snapshot) Snapshot {
	if r, ok := s.(*runSnapshot); ok {
		return r.Snapshot
	}
	return s
}

// runIterator moves over a run in memory, or over the iterator below it where
// the run is too long to be kept.
type runIterator struct {
	snapshot *runSnapshot
	family   Family
	run      []runEntry
	i        int
	below    Iterator // opened on first use
	direct   bool     // the last seek went below
}

// Seek implements Iterator.
func (i *runIterator) Seek(key []byte) bool {
	if i.enter(key) {
		return i.below.Seek(key)
	}
	i.i = sort.Search(len(i.run), func(n int) bool { return bytes.Compare(i.run[n].key, key) >= 0 })
	return i.i < len(i.run)
}

// SeekBack implements Iterator.
func (i *runIterator) SeekBack(key []byte) bool {
	if i.enter(key) {
		return i.below.SeekBack(key)
	}
	i.i = sort.Search(len(i.run), func(n int) bool { return bytes.Compare(i.run[n].key, key) > 0 }) - 1
	return i.i >= 0
}

// enter finds or reads the run of a key; true: it must be read below.
func (i *runIterator) enter(key []byte) (direct bool) {
	n := runName{i.family, binary.BigEndian.Uint64(key)}
	p := i.snapshot.cache.part(n)
	r := p.find(n, i.snapshot.at)
	if r == nil {
		if i.below == nil {
			i.below = i.snapshot.Snapshot.Prefix(i.family)
		}
		if r = i.read(key[:8]); r == nil {
			i.direct = true
			return true
		}
		p.keep(n, r, i.snapshot.at)
	}
	i.run, i.direct = r.entries, r.long
	if r.long && i.below == nil {
		i.below = i.snapshot.Snapshot.Prefix(i.family)
	}
	return r.long
}

// read reads a run; nil: it could not be read whole.
func (i *runIterator) read(prefix []byte) *keptRun {
	r := &keptRun{size: runOverhead}
	for ok := i.below.Seek(prefix); ok; ok = i.below.Next() {
		key, value := i.below.Key(), i.below.Value()
		if !bytes.HasPrefix(key, prefix) {
			break
		}
		if r.size += entryOverhead + len(key) + len(value); r.size > maxRunBytes {
			return &keptRun{long: true, size: runOverhead}
		}
		r.entries = append(r.entries, runEntry{bytes.Clone(key), bytes.Clone(value)})
	}
	if i.below.Err() != nil {
		return nil
	}
	return r
}

// Next implements Iterator.
func (i *runIterator) Next() bool {
	if i.direct {
		return i.below.Next()
	}
	i.i++
	return i.i < len(i.run)
}

// Key implements Iterator.
func (i *runIterator) Key() []byte {
	if i.direct {
		return i.below.Key()
	}
	return i.run[i.i].key
}

// Value implements Iterator.
func (i *runIterator) Value() []byte {
	if i.direct {
		return i.below.Value()
	}
	return i.run[i.i].value
}

// Err implements Iterator.
func (i *runIterator) Err() error {
	if i.direct {
		return i.below.Err()
	}
	return nil
}

// Close implements Iterator.
func (i *runIterator) Close() {
	if i.below != nil {
		i.below.Close()
	}
}
