package mapped

import (
	"encoding/binary"
	"errors"
	"os"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"

	"adshard/fault"
)

// barrel is an open file.
type barrel struct {
	all    []byte // mapped
	values []byte
	keys   []uint64
	ends   []uint64
}

// openBarrel maps a barrel into memory. It checks that the barrel is whole and that no
// end lies outside it, so that reads need no checks. It returns fault.Corrupt if the
// barrel is damaged or cut off.
func openBarrel(path string) (b *barrel, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Newf(fault.Corrupt, "mapped: open", "%w; build the layout again", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fault.New(fault.Internal, "mapped: open", err)
	}
	if info.Size() < headSize || info.Size() > 1<<46 {
		return nil, damaged(path)
	}
	all, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fault.Newf(fault.Internal, "mapped: open", "%s cannot be mapped into memory: %w", path, err)
	}
	b = &barrel{all: all}
	if !b.whole() {
		return nil, errors.Join(damaged(path), b.close())
	}
	return b, nil
}

// whole checks the file and finds its parts.
func (b *barrel) whole() bool {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(b.all[at:]) }
	if string(b.all[:8]) != magic || xxhash.Sum64(b.all[:40]) != word(40) {
		return false
	}
	n, keys, size := word(8), word(16), word(24)
	rest := b.all[headSize:]
	const most = 1 << 46 // so that no sum below overflows
	if n > most || size > most || keys != 0 && keys != n || uint64(len(rest)) != size+padding(size)+8*(keys+n) {
		return false
	}
	if xxhash.Sum64(rest) != word(32) {
		return false
	}
	b.values = rest[:size]
	index := rest[size+padding(size):]
	b.keys, b.ends = numbers(index[:8*keys]), numbers(index[8*keys:])
	last := uint64(0)
	for _, end := range b.ends {
		if end < last || end > size {
			return false
		}
		last = end
	}
	return true
}

// numbers returns bytes as numbers without copying them. They must be at a multiple of
// 8 in memory.
func numbers(b []byte) []uint64 {
	checkNumbers(b)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// value returns the value at a position, which must be one of the barrel's positions.
func (b *barrel) value(at uint32) []byte {
	begin := uint64(0)
	if at > 0 {
		begin = b.ends[at-1]
	}
	return b.values[begin:b.ends[at]]
}

// find returns the position of a key; ok is false if there is none. Keys are hashes and
// so evenly spread: find looks where the key should be and continues from there.
func (b *barrel) find(key uint64) (at uint32, ok bool) {
	lo, hi := 0, len(b.keys)-1
	for lo <= hi && key >= b.keys[lo] && key <= b.keys[hi] {
		mid := lo
		if span := b.keys[hi] - b.keys[lo]; span > 0 {
			mid += int(float64(key-b.keys[lo]) / float64(span) * float64(hi-lo))
			mid = min(mid, hi) // rounding may exceed hi
		}
		switch k := b.keys[mid]; {
		case k == key:
			return uint32(mid), true
		case k < key:
			lo = mid + 1
		default:
			hi = mid - 1
		}
	}
	return 0, false
}

func (b *barrel) close() error { return unix.Munmap(b.all) }

func damaged(path string) error {
	return fault.Newf(fault.Corrupt, "mapped: open", "%s is damaged or cut off; build the layout again", path)
}
