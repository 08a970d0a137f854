package barrels

import "context"

// Family is a column family: a key space of its own, in one atomic batch with
// the others.
type Family uint8

// The families. docs/format.md describes their keys and values.
const (
	Postings Family = iota // blocks of matching data by term, ring key, keyword
	Items                  // group records and pages of keywords by ring key
	Parents                // campaign and advertiser records
	Terms                  // document frequencies by term
	Meta                   // versions, position, slices, counters
)

// Families is the number of families.
const Families = 5

var familyNames = [...]string{"postings", "items", "parents", "terms", "meta"}

// String returns the family's name on disk.
func (f Family) String() string { return familyNames[f] }

// PrefixLen is the fixed length of the prefix that all keys looked for
// together share; 0: no such prefix. No key of the family is shorter.
func (f Family) PrefixLen() int {
	switch f {
	case Postings, Items:
		return 8
	}
	return 0
}

// KV is an ordered store of bytes by family: what barrels/memory and
// barrels/rocks provide and Open builds a Store on. Reads go through
// snapshots. One goroutine writes at a time; snapshots may be used by many.
type KV interface {
	// Snapshot returns a view of the batches written so far. It must be closed
	// before the KV is.
	Snapshot() Snapshot
	// Write applies a batch whole or not at all. fault.NoSpace: nothing was
	// written; a later call may succeed.
	Write(*Batch) error
	// Failed tells whether a Write failed in a way that only Reopen mends. Reads
	// go on meanwhile.
	Failed() bool
	// Ready tells whether there is what Reopen needs; fault.NoSpace.
	Ready() error
	// Reopen closes and opens the KV. All snapshots must be closed. After an
	// error nothing but Reopen and Close may be called.
	Reopen() error
	// Tidy brings the files into the best order for reading, until ctx is over,
	// while reads and writes go on. It may do nothing. Reopen and Close must not
	// be called meanwhile.
	Tidy(ctx context.Context)
	// DiskBytes is the size of the files; 0 where there are none.
	DiskBytes() uint64
	Close() error
}

// Snapshot reads one state of a KV.
type Snapshot interface {
	// Get appends the value of a key to dst; false: there is none.
	Get(f Family, key, dst []byte) ([]byte, bool, error)
	// Prefix returns an iterator over the keys that share their first
	// PrefixLen bytes with the key last sought. Full returns one over all keys.
	Prefix(f Family) Iterator
	Full(f Family) Iterator
	// Close releases the snapshot; its iterators must be closed before.
	Close()
}

// Iterator moves over the keys of one family. Each move returns false at the
// end or on an error. Bytes it returns are valid until the next move and must
// not be written to.
type Iterator interface {
	// Seek moves to the first key at or after key.
	Seek(key []byte) bool
	// SeekBack moves to the last key at or before key.
	SeekBack(key []byte) bool
	Next() bool
	Key() []byte
	Value() []byte
	Err() error
	// Close ends the iterator's use; the snapshot may hand it out again.
	Close()
}

// OpKind is what an operation of a Batch does.
type OpKind uint8

// The kinds. Clear removes all keys of the family that were written before
// this batch; it comes before all others of its family.
const (
	Put OpKind = iota
	Delete
	Clear
)

// Op is one operation of a batch.
type Op struct {
	Kind       OpKind
	Family     Family
	Key, Value []byte
}

// Batch collects writes. The zero value is empty.
type Batch struct {
	ops  []batchOp
	data []byte
}

type batchOp struct {
	kind     OpKind
	family   Family
	keyLen   uint16
	at, size int // of the value; the key lies before it
}

// Put writes a value.
func (b *Batch) Put(f Family, key, value []byte) {
	b.data = append(b.data, key...)
	at := len(b.data)
	b.data = append(b.data, value...)
	b.ops = append(b.ops, batchOp{Put, f, uint16(len(key)), at, len(value)})
}

// PutFunc writes the value that build appends to the slice it is given.
func (b *Batch) PutFunc(f Family, key []byte, build func(dst []byte) []byte) {
	b.data = append(b.data, key...)
	at := len(b.data)
	b.data = build(b.data)
	b.ops = append(b.ops, batchOp{Put, f, uint16(len(key)), at, len(b.data) - at})
}

// Delete removes a key.
func (b *Batch) Delete(f Family, key []byte) {
	b.data = append(b.data, key...)
	b.ops = append(b.ops, batchOp{Delete, f, uint16(len(key)), len(b.data), 0})
}

// Clear removes all keys of a family.
func (b *Batch) Clear(f Family) {
	b.ops = append(b.ops, batchOp{Clear, f, 0, len(b.data), 0})
}

// Len is the number of operations.
func (b *Batch) Len() int { return len(b.ops) }

// Bytes is the size of keys and values.
func (b *Batch) Bytes() int { return len(b.data) }

// Op returns the i-th operation; its bytes are the batch's.
func (b *Batch) Op(i int) Op {
	o := &b.ops[i]
	return Op{
		Kind: o.kind, Family: o.family,
		Key: b.data[o.at-int(o.keyLen) : o.at], Value: b.data[o.at : o.at+o.size],
	}
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.ops, b.data = b.ops[:0], b.data[:0]
}
