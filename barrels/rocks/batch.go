package rocks

import (
	"encoding/binary"

	"adshard/barrels/kv"
)

// Record types of RocksDB's write batch (db/dbformat.h, ValueType). The format is that of its
// write-ahead log, which has not changed since column families were introduced. Writing it here
// costs one call into C per batch instead of one per key.
const (
	recordDeletion      = 0x4
	recordValue         = 0x5
	recordMerge         = 0x6
	recordRangeDeletion = 0xe
)

// batchHead is the size of the sequence number, which RocksDB fills in, and the count.
const batchHead = 8 + 4

// keysEnd is above all keys, since none is that long.
var keysEnd = func() (end [64]byte) {
	for i := range end {
		end[i] = 0xff
	}
	return end
}()

// appendBatch appends a batch in RocksDB's format, with its link of the chain. ids are the ids of
// the families. sum is that of appendLink.
func appendBatch(dst []byte, b *kv.Batch, ids *[kv.Families]uint32, c *chain) (_ []byte, sum uint64) {
	start := len(dst)
	dst = append(dst, make([]byte, batchHead)...)
	for i := range b.Len() {
		op := b.Op(i)
		id := uint64(ids[op.Family])
		switch op.Kind {
		case kv.Put:
			dst = binary.AppendUvarint(append(dst, recordValue), id)
			dst = appendBytes(appendBytes(dst, op.Key), op.Value)
		case kv.Delete:
			dst = binary.AppendUvarint(append(dst, recordDeletion), id)
			dst = appendBytes(dst, op.Key)
		case kv.Clear:
			dst = binary.AppendUvarint(append(dst, recordRangeDeletion), id)
			dst = appendBytes(appendBytes(dst, nil), keysEnd[:])
		}
	}
	binary.LittleEndian.PutUint32(dst[start+8:], uint32(b.Len()+chainRecords))
	return c.appendLink(dst)
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}
