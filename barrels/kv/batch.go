package kv

// OpKind is the kind of an operation of a Batch.
type OpKind uint8

// The kinds. Clear removes all keys of the family that were written before this batch. It comes
// before all other operations on its family.
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
	at, size int // of the value; the key lies directly before it
}

// Put writes a value.
func (b *Batch) Put(f Family, key, value []byte) {
	b.data = append(b.data, key...)
	at := len(b.data)
	b.data = append(b.data, value...)
	b.ops = append(b.ops, batchOp{Put, f, uint16(len(key)), at, len(value)})
}

// PutFunc writes the value that build appends to dst.
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

// Clear removes all keys of a family that were written before this batch.
func (b *Batch) Clear(f Family) {
	b.ops = append(b.ops, batchOp{Clear, f, 0, len(b.data), 0})
}

// Len returns the number of operations.
func (b *Batch) Len() int { return len(b.ops) }

// Bytes returns the size of the keys and values.
func (b *Batch) Bytes() int { return len(b.data) }

// Op returns the i-th operation, which shares the batch's bytes.
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

// Cap returns the capacity of the memory that Reset keeps, in bytes.
func (b *Batch) Cap() int { return cap(b.data) }
