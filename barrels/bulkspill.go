package barrels

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"syscall"

	"adshard/barrels/block"
	"adshard/fault"
	"adshard/schema/pb"
)

// spill is a temporary file of items.
type spill struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

// spilled is where an item lies in the file.
type spilled struct {
	key  uint64
	at   int64
	size int
}

// spillBuffers pools the scratch of Add.
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

// spillError gives an error of the file system its kind.
func spillError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fault.Newf(fault.NoSpace, "barrels: build", "%w; a build needs about twice the store's size", err)
	}
	return fault.New(fault.Unavailable, "barrels: build", err)
}

// An item in the file: what postings say of the group, its record, and of each
// keyword what postings say, its hashes and its record. Numbers are
// little-endian.

func appendItem(dst []byte, it *pb.Item) ([]byte, error) {
	head := groupHead(it.Group)
	dst = appendHead(dst, &head)
	var err error
	if dst, err = appendSized(dst, func(dst []byte) ([]byte, error) { return marshal.MarshalAppend(dst, it.Group) }); err != nil {
		return nil, fault.New(fault.Invalid, "barrels: build", err)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(it.Keywords)))
	for _, k := range it.Keywords {
		dst = binary.LittleEndian.AppendUint64(dst, k.Id)
		dst = binary.LittleEndian.AppendUint64(dst, k.GetBid())
		dst = append(dst, byte(k.Type), byte(k.Quality), keywordFlags(k), byte(len(k.Norm)), byte(len(k.Forms)))
		dst = appendHashes(dst, k.Norm)
		dst = appendHashes(dst, k.Fold)
		for _, f := range k.Forms {
			dst = appendHashes(dst, f.Terms)
		}
		if dst, err = appendSized(dst, func(dst []byte) ([]byte, error) { return marshal.MarshalAppend(dst, k) }); err != nil {
			return nil, fault.New(fault.Invalid, "barrels: build", err)
		}
	}
	return dst, nil
}

func appendHashes(dst []byte, list []uint64) []byte {
	for _, h := range list {
		dst = binary.LittleEndian.AppendUint64(dst, h)
	}
	return dst
}

// appendSized appends what build appends, its length before it.
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
	dst = appendHashes(dst, []uint64{g.Key, g.ID, g.Campaign, g.Advertiser})
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

// spilledItem reads an item back; its bytes are those of the buffer.
type spilledItem struct {
	head   []byte
	record []byte
	count  int
	rest   []byte
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

// spilledKeyword is a keyword of an item in the file.
type spilledKeyword struct {
	id, bid              uint64
	kind, quality, flags uint8
	words, forms         int
	hashes               []byte // of norm, fold, then the terms of each form
	record               []byte
}

func (s *spilledItem) next() (k spilledKeyword) {
	b := s.rest
	k.id, k.bid = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	k.kind, k.quality, k.flags, k.words, k.forms = b[16], b[17], b[18], int(b[19]), int(b[20])
	n := 21 + 8*k.words*(2+k.forms)
	k.hashes = b[21:n]
	k.record, s.rest = sized(b[n:])
	return k
}

// hash returns the i-th hash of a row: 0 norm, 1 fold, 2 on: forms.
func (k *spilledKeyword) hash(row, i int) uint64 {
	return binary.LittleEndian.Uint64(k.hashes[8*(row*k.words+i):])
}
