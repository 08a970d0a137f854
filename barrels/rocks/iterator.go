package rocks

// #cgo LDFLAGS: -lrocksdb
// #include "iterate.h"
import "C"

import (
	"encoding/binary"
	"unsafe"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
)

// iterator copies the data that RocksDB pins, several entries with one call into C. After a seek it
// reads more entries with each call, up to a full buffer in full scans and up to prefixMost under a
// prefix. So code that seeks often reads little that it does not need.
type iterator struct {
	it     *grocksdb.Iterator
	owner  *snapshot // nil if it is really closed after use
	family kv.Family

	buffer     []byte
	kept       *[]byte // the pooled buffer (database.buffers), or nil if it is not pooled
	rest       []byte  // entries in the buffer not yet moved to
	key, value []byte
	most       uint32 // number of entries that the next call reads
	unread     bool   // whether RocksDB's iterator is at an entry after those read
	end        bool   // whether no entry follows those read
}

// Sizes of buffers, and numbers of entries that one call reads.
const (
	prefixBuffer = 8 << 10
	fullBuffer   = 128 << 10
	prefixMost   = 64
	fullMost     = 1 << 20
)

// c returns RocksDB's iterator, the first field of grocksdb's iterator. It is the only field in
// v1.7.14, and comes before the options in v1.11.1 (TestFieldsOfGrocksdb).
func (i *iterator) c() *C.rocksdb_iterator_t {
	return *(**C.rocksdb_iterator_t)(unsafe.Pointer(i.it))
}

// room makes sure that there is a buffer. Iterators under a prefix reuse buffers, since a new one
// would be most of what a small batch allocates.
func (i *iterator) room() {
	if i.buffer != nil {
		return
	}
	if i.owner == nil {
		i.buffer = make([]byte, fullBuffer)
		return
	}
	kept, ok := i.owner.kv.buffers.Get().(*[]byte)
	if !ok {
		b := make([]byte, prefixBuffer)
		kept = &b
	}
	i.kept, i.buffer = kept, *kept
}

// Seek implements kv.Iterator.
func (i *iterator) Seek(key []byte) bool {
	if len(key) == 0 {
		return i.seek(C.SEEK_FIRST, []byte{0})
	}
	return i.seek(C.SEEK_FORTH, key)
}

// SeekBack implements kv.Iterator.
func (i *iterator) SeekBack(key []byte) bool { return i.seek(C.SEEK_BACK, key) }

func (i *iterator) seek(where C.int, key []byte) bool {
	i.room()
	i.most = 1
	return i.readFirst(C.adshard_seek(i.c(), where, (*C.char)(unsafe.Pointer(&key[0])), C.size_t(len(key)),
		(*C.char)(unsafe.Pointer(&i.buffer[0])), C.size_t(len(i.buffer))))
}

// Next implements kv.Iterator.
func (i *iterator) Next() bool {
	if len(i.rest) > 0 {
		i.move()
		return true
	}
	if i.end {
		return false
	}
	more := i.readFirst(i.next())
	i.most = min(2*i.most, fullMost)
	if i.owner != nil {
		i.most = min(i.most, prefixMost)
	}
	return more
}

func (i *iterator) next() C.entries {
	unread := C.uint8_t(0)
	if i.unread {
		unread = 1
	}
	return C.adshard_next(i.c(), unread, C.uint32_t(i.most),
		(*C.char)(unsafe.Pointer(&i.buffer[0])), C.size_t(len(i.buffer)))
}

// readFirst moves to the first entry that a call has read. If the entry is too large for the
// buffer, it is read again into a larger one.
func (i *iterator) readFirst(e C.entries) bool {
	for e.need > 0 {
		i.buffer = make([]byte, int(e.need)+int(e.need)/2)
		i.unread = true
		e = i.next()
	}
	checkEntries(i.buffer, int(e.used))
	i.rest, i.end, i.unread = i.buffer[:e.used], e.end != 0, e.unread != 0
	if len(i.rest) == 0 {
		return false
	}
	i.move()
	return true
}

// entryHead is the size of the sizes of key and value before an entry.
const entryHead = 4 + 4

func (i *iterator) move() {
	key := entryHead + int(binary.NativeEndian.Uint32(i.rest))
	end := key + int(binary.NativeEndian.Uint32(i.rest[4:]))
	i.key, i.value, i.rest = i.rest[entryHead:key:key], i.rest[key:end:end], i.rest[end:]
}

// Key implements kv.Iterator.
func (i *iterator) Key() []byte { return i.key }

// Value implements kv.Iterator.
func (i *iterator) Value() []byte { return i.value }

// Err implements kv.Iterator.
func (i *iterator) Err() error { return classify("rocks: read", i.it.Err()) }

// Close implements kv.Iterator.
func (i *iterator) Close() {
	if i.owner == nil {
		i.it.Close()
		return
	}
	if i.kept != nil {
		spoil(i.buffer)
		*i.kept = i.buffer
		i.owner.kv.buffers.Put(i.kept)
		i.kept, i.buffer, i.rest, i.key, i.value = nil, nil, nil, nil, nil
	}
	i.owner.mu.Lock()
	i.owner.idle[i.family] = append(i.owner.idle[i.family], i)
	i.owner.mu.Unlock()
}
