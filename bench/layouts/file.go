package layouts

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
	"adshard/internal/outfile"
)

// magic is the beginning of a set's file; its last byte is the format's version.
const magic = "adshard keywords\x01"

// Save writes the set to a file, whole or not at all: magic, then the numbers
// of words, keywords, references and groups (8 bytes each), the arrays of Set in
// its order (words as their lengths and then their bytes in one), and the 64-bit
// xxHash of all this. Numbers are little endian.
func (s *Set) Save(path string) error {
	set := outfile.Output{Path: path, Kind: outfile.Kind{Name: "a set of keywords", Is: outfile.Begins(magic[:len(magic)-1])}}
	return fault.New(fault.Internal, "layouts: save", set.Write(func(to io.Writer) error {
		w := &fileWriter{out: bufio.NewWriterSize(to, 1<<20), sum: xxhash.New()}
		s.write(w)
		w.write(binary.LittleEndian.AppendUint64(nil, w.sum.Sum64()))
		return errors.Join(w.err, w.out.Flush())
	}))
}

func (s *Set) write(w *fileWriter) {
	w.write([]byte(magic))
	for _, n := range []int{len(s.Words), s.Len(), len(s.Refs), len(s.Groups)} {
		w.write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
	lengths := make([]uint32, len(s.Words))
	for i, word := range s.Words {
		lengths[i] = uint32(len(word))
	}
	w.numbers(lengths)
	for _, word := range s.Words {
		w.write([]byte(word))
	}
	w.numbers(s.Counts)
	w.numbers(s.Refs)
	w.numbers(s.Starts)
	w.numbers(s.Bids)
	w.write(s.Qualities)
	for i := range s.Groups {
		g := &s.Groups[i]
		b := binary.LittleEndian.AppendUint64(nil, uint64(g.First))
		b = binary.LittleEndian.AppendUint64(b, g.ID)
		b = binary.LittleEndian.AppendUint64(b, g.Campaign)
		w.write(binary.LittleEndian.AppendUint64(b, g.Advertiser))
	}
}

// fileWriter writes until the first error and computes a checksum of what it
// writes.
type fileWriter struct {
	out *bufio.Writer
	sum hash.Hash64
	err error
	buf []byte
}

func (w *fileWriter) write(b []byte) {
	if w.err == nil {
		_, _ = w.sum.Write(b) // never fails
		_, w.err = w.out.Write(b)
	}
}

func (w *fileWriter) numbers(list []uint32) {
	for part := range slices.Chunk(list, 64<<10) {
		w.buf = w.buf[:0]
		for _, n := range part {
			w.buf = binary.LittleEndian.AppendUint32(w.buf, n)
		}
		w.write(w.buf)
	}
}

// Load reads a set that Save wrote. It returns fault.NotFound if there is no
// file, and fault.Corrupt if Save did not write it, or if it is of another
// version or damaged.
func Load(path string) (*Set, error) {
	const op = "layouts: load"
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, op, err)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, op, err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, fault.New(fault.Internal, op, err)
	}
	r := &fileReader{in: bufio.NewReaderSize(f, 1<<20), sum: xxhash.New(), left: info.Size()}
	s := r.set()
	want := r.sum.Sum64()
	if b := r.next(8); r.err == nil && (binary.LittleEndian.Uint64(b) != want || r.left != 0) {
		r.err = errors.New("its checksum is wrong")
	}
	if r.err != nil {
		return nil, fault.Newf(fault.Corrupt, op, "%s is not a complete file of keywords (%w): remove it, so that it is made again", path, r.err)
	}
	return s, nil
}

// fileReader reads until the first error.
type fileReader struct {
	in   io.Reader
	sum  hash.Hash64
	left int64 // bytes that are left in the file
	err  error
	buf  []byte
}

// next reads n bytes, valid until the next call; it returns zeros after an
// error.
func (r *fileReader) next(n int) []byte {
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	if r.err == nil {
		_, r.err = io.ReadFull(r.in, r.buf)
	}
	if r.err != nil {
		clear(r.buf)
	}
	r.left -= int64(n)
	_, _ = r.sum.Write(r.buf) // never fails
	return r.buf
}

// size reads how many elements follow, each of at least the given size in bytes.
func (r *fileReader) size(each int64) int {
	n := binary.LittleEndian.Uint64(r.next(8))
	if n > uint64(max(0, r.left)/each) {
		r.err = errors.Join(r.err, io.ErrUnexpectedEOF)
		return 0
	}
	return int(n)
}

func (r *fileReader) numbers(n int) []uint32 {
	out := make([]uint32, n)
	for part := range slices.Chunk(out, 64<<10) {
		b := r.next(4 * len(part))
		for i := range part {
			part[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	}
	return out
}

func (r *fileReader) set() *Set {
	if string(r.next(len(magic))) != magic {
		r.err = errors.Join(r.err, errors.New("it begins otherwise"))
	}
	words, keywords, refs, groups := r.size(8), r.size(9), r.size(4), r.size(32)
	s := &Set{Words: make([]string, words), Groups: make([]Group, groups)}
	r.words(s.Words)
	s.Counts, s.Refs, s.Starts, s.Bids = r.numbers(words), r.numbers(refs), r.numbers(keywords+1), r.numbers(keywords)
	s.Qualities = slices.Clone(r.next(keywords))
	for i := range s.Groups {
		b := r.next(32)
		n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
		s.Groups[i] = Group{First: uint32(n(0)), ID: n(1), Campaign: n(2), Advertiser: n(3)}
	}
	return s
}

// words reads the words; their bytes share one string.
func (r *fileReader) words(out []string) {
	var joint strings.Builder
	lengths := r.numbers(len(out))
	for _, n := range lengths {
		if int64(n) > r.left {
			r.err = errors.Join(r.err, io.ErrUnexpectedEOF)
			return
		}
		joint.Write(r.next(int(n)))
	}
	text := joint.String()
	for i, n := range lengths {
		out[i], text = text[:n], text[n:]
	}
}
