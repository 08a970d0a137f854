package bulk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"

	"adshard/barrels/block"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/schema/pb"
)

// spill is a temporary file of items.
type spill struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

// spilled is the position of an item in the file.
type spilled struct {
	key  uint64
	at   int64
	size int
}

// spillBuffers pools the buffers of Add.
var spillBuffers = sync.Pool{New: func() any { return new([]byte) }}

func newSpill(path string) (*spill, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, spillError(err)
	}
	return &spill{file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (s *spill) append(b []byte) (at int64, err error) {
	at = s.size
	n, err := s.out.Write(b)
	s.size += int64(n)
	return at, spillError(err)
}

func (s *spill) flush() error { return spillError(s.out.Flush()) }

// spillError turns an error of the file system into a fault of the right kind.
func spillError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fault.Newf(fault.NoSpace, "barrels: build", "%w; a build needs about twice the store's size", err)
	}
	return fault.New(fault.Unavailable, "barrels: build", err)
}

// An item in the file has what postings say of the group, and its record. For each keyword it has
// what postings say of it, its hashes, languages and text, and its record if it is kept whole.
// Numbers are little-endian.

func appendItem(dst []byte, it *pb.Item) ([]byte, error) {
	head := record.Head(it.Group)
	dst = appendHead(dst, &head)
	dst, err := appendSized(dst, func(dst []byte) ([]byte, error) { return record.Marshal.MarshalAppend(dst, it.Group) })
	if err != nil {
		return nil, fault.New(fault.Invalid, "barrels: build", err)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(it.Keywords)))
	for _, k := range it.Keywords {
		dst = binary.LittleEndian.AppendUint64(dst, k.Id)
		dst = binary.LittleEndian.AppendUint64(dst, k.GetBid())
		dst = append(dst, byte(k.Type), byte(k.Quality), record.KeywordFlags(k), byte(len(k.Norm)), byte(len(k.Forms)))
		dst = record.AppendHashes(dst, k.Norm)
		dst = record.AppendHashes(dst, k.Fold)
		for _, f := range k.Forms {
			dst = record.AppendHashes(dst, f.Terms)
			dst = appendString(dst, f.Language)
		}
		dst = appendString(dst, k.Text)
		if dst, err = appendSized(dst, func(dst []byte) ([]byte, error) {
			if !record.HasUnknownFields(k) {
				return dst, nil
			}
			return record.Marshal.MarshalAppend(dst, k)
		}); err != nil {
			return nil, fault.New(fault.Invalid, "barrels: build", err)
		}
	}
	return dst, nil
}

func appendString(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendSized appends what build appends, preceded by its length.
func appendSized(dst []byte, build func([]byte) ([]byte, error)) ([]byte, error) {
	at := len(dst)
	dst, err := build(append(dst, 0, 0, 0, 0))
	if err == nil {
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, err
}

// headSize is the size of a group's head in temporary files.
const headSize = 4*8 + 4*2

func appendHead(dst []byte, g *block.Group) []byte {
	dst = record.AppendHashes(dst, []uint64{g.Key, g.ID, g.Campaign, g.Advertiser})
	for _, m := range g.Modifiers {
		dst = binary.LittleEndian.AppendUint16(dst, m)
	}
	return binary.LittleEndian.AppendUint16(dst, g.Flags)
}

func parseHead(b []byte) (g block.Group) {
	le := binary.LittleEndian
	g.Key, g.ID, g.Campaign, g.Advertiser = le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	for d := range g.Modifiers {
		g.Modifiers[d] = le.Uint16(b[32+2*d:])
	}
	g.Flags = le.Uint16(b[38:])
	return g
}

// spilledItem reads an item back. The strings that it returns share the buffer's bytes.
type spilledItem struct {
	head   []byte
	record []byte
	count  int
	rest   []byte
	last   string // language of the keyword before
}

func openItem(b []byte) (s spilledItem) {
	s.head, b = b[:headSize], b[headSize:]
	s.record, b = sized(b)
	s.count = int(binary.LittleEndian.Uint32(b))
	s.rest = b[4:]
	return s
}

func sized(b []byte) (value, rest []byte) {
	n := binary.LittleEndian.Uint32(b)
	return b[4 : 4+n], b[4+n:]
}

// next reads the next keyword into k, without anchors. k shares the buffer's bytes.
func (s *spilledItem) next(k *spilledKeyword) {
	b := s.rest
	k.ID, k.Bid = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	k.Type, k.Quality, k.Flags = b[16], b[17], b[18]
	words, forms := int(b[19]), int(b[20])
	b = b[21:]
	k.rows, k.Forms, k.Anchors = k.rows[:0], k.Forms[:0], k.Anchors[:0]
	k.rows = slices.Grow(k.rows, words*(2+forms)) // so that appending does not move it
	k.Norm, b = k.row(b, words)
	k.Fold, b = k.row(b, words)
	for range forms {
		var f record.Form
		var language []byte
		f.Terms, b = k.row(b, words)
		language, b = sized(b)
		f.Language = s.language(language)
		k.Forms = append(k.Forms, f)
	}
	k.Text, b = sized(b)
	k.Whole, s.rest = sized(b)
	if len(k.Whole) == 0 {
		k.Whole = nil
	}
}

// spilledKeyword is a keyword of an item in the file.
type spilledKeyword struct {
	record.Keyword
	rows []uint64 // the hashes of its words and terms
}

// row reads n hashes, and returns them and the rest of b.
func (k *spilledKeyword) row(b []byte, n int) (row []uint64, rest []byte) {
	at := len(k.rows)
	for i := range n {
		k.rows = append(k.rows, binary.LittleEndian.Uint64(b[8*i:]))
	}
	return k.rows[at:len(k.rows):len(k.rows)], b[8*n:]
}

// language returns a language as a string. It is mostly that of the keyword before.
func (s *spilledItem) language(b []byte) string {
	if string(b) != s.last {
		s.last = string(b)
	}
	return s.last
}
