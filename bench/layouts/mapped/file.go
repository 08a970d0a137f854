package mapped

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
)

// A barrel's file, little-endian: the head (below), the values one after the
// other, zeros to a multiple of 8, the keys (8 bytes each, rising; none if
// values are found by position), the end of each value (8 bytes). The head is
// written last: without it the file is not whole.
//
//	0  magic, 8 bytes
//	8  number of values
//	16 number of keys: equal to that of values, or 0
//	24 bytes of values
//	32 checksum of all after the head (xxhash64)
//	40 checksum of the bytes before this one
const (
	magic    = "adbench1"
	headSize = 48
)

// writer writes a barrel.
type writer struct {
	f          *os.File
	w          *bufio.Writer
	sum        *xxhash.Digest
	keys, ends []uint64
	size       uint64
}

func create(path string) (*writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, unwritable(err)
	}
	w := &writer{f: f, w: bufio.NewWriterSize(f, 1<<20), sum: xxhash.New()}
	return w, w.write(make([]byte, headSize), false)
}

// add writes a value; key is left out if values are found by position.
func (w *writer) add(value []byte, key ...uint64) error {
	w.size += uint64(len(value))
	w.ends, w.keys = append(w.ends, w.size), append(w.keys, key...)
	return w.write(value, true)
}

func (w *writer) write(b []byte, count bool) error {
	if count {
		_, _ = w.sum.Write(b) // never fails
	}
	if _, err := w.w.Write(b); err != nil {
		return unwritable(err)
	}
	return nil
}

// finish writes the missing parts and closes the file.
func (w *writer) finish() error {
	err := errors.Join(
		w.write(make([]byte, padding(w.size)), true),
		w.write(bytesOf(w.keys), true), w.write(bytesOf(w.ends), true),
		w.w.Flush(),
	)
	head := append(make([]byte, 0, headSize), magic...)
	for _, n := range []uint64{uint64(len(w.ends)), uint64(len(w.keys)), w.size, w.sum.Sum64()} {
		head = binary.LittleEndian.AppendUint64(head, n)
	}
	head = binary.LittleEndian.AppendUint64(head, xxhash.Sum64(head))
	if err == nil {
		_, err = w.f.WriteAt(head, 0)
	}
	if err = errors.Join(err, w.f.Close()); err != nil {
		return unwritable(err)
	}
	return nil
}

// padding returns the number of bytes up to a multiple of 8.
func padding(n uint64) uint64 { return -n & 7 }

// bytesOf returns the bytes of numbers without copying them.
func bytesOf(n []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(n))), 8*len(n))
}

func unwritable(err error) error {
	return fault.Newf(fault.Internal, "mapped: build", "%w; give a directory that can be written to, with room", err)
}
