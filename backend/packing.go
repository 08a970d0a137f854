package backend

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
)

// A packed text is a deflate stream (RFC 1951). A large text is cut into pieces at places that its lines determine, so that a change of
// one line leaves most pieces unchanged. Each piece is packed separately: the stream consists of the packed pieces, each flushed, then an
// empty last block, and then
//
//	for each piece: bytes packed, bytes of text (uvarints) · the total length of these numbers (uint32, little-endian) · "pcs1"
//
// A reader that does not know of pieces reads the stream and ignores the rest. If the text before a change is known, only the changed
// pieces are packed and unpacked (RepackDocument, Unpacker).

// maxUnpacked is the most bytes of text that data may unpack to, so that a text cannot fill the memory.
const maxUnpacked = 256 << 20

const (
	// leastPiece and mostPiece bound the size of a piece, in bytes of text. Between them about every cutEvery-th line,
	// chosen by its hash, ends a piece.
	leastPiece = 16 << 10
	mostPiece  = 64 << 10
	cutEvery   = 512

	// mostRatio is more bytes of text than one byte of a deflate stream can represent.
	mostRatio = 1100

	piecesMark = "pcs1"
)

// lastBlock is an empty last block of a deflate stream.
var lastBlock = []byte{1, 0, 0, 0xff, 0xff}

// PackDocument compresses a text for a document.
func PackDocument(text string) []byte { return RepackDocument(text, "", nil) }

// RepackDocument is like PackDocument for a text that replaces the text `before`, whose packed form is data. It reuses the pieces
// that have not changed.
func RepackDocument(text, before string, data []byte) []byte {
	if len(text) <= leastPiece {
		return packWhole(text)
	}
	known := packedPieces(before, data)
	var p packer
	var index []byte
	for piece := ""; len(text) > 0; {
		piece, text = cutPiece(text)
		packed, ok := known[piece]
		if !ok {
			packed = p.pack(piece)
		}
		p.out = append(p.out, packed...)
		index = binary.AppendUvarint(binary.AppendUvarint(index, uint64(len(packed))), uint64(len(piece)))
	}
	p.out = append(append(p.out, lastBlock...), index...)
	return append(binary.LittleEndian.AppendUint32(p.out, uint32(len(index))), piecesMark...)
}

func packWhole(text string) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // the level is valid
	_, _ = io.WriteString(w, text)               // a buffer accepts everything
	_ = w.Close()
	return b.Bytes()
}

// packer packs pieces one after the other.
type packer struct {
	out   []byte
	piece bytes.Buffer
	w     *flate.Writer
}

// pack returns a packed piece, which is valid until the next call.
func (p *packer) pack(piece string) []byte {
	p.piece.Reset()
	if p.w == nil {
		p.w, _ = flate.NewWriter(&p.piece, flate.BestSpeed) // the level is valid
	}
	p.w.Reset(&p.piece)
	_, _ = io.WriteString(p.w, piece) // a buffer accepts everything
	_ = p.w.Flush()
	return p.piece.Bytes()
}

// cutPiece cuts the first piece off a text that is not empty.
func cutPiece(text string) (piece, rest string) {
	for at := 0; ; {
		end := strings.IndexByte(text[at:], '\n') + 1
		if end == 0 {
			return text, ""
		}
		line := text[at : at+end]
		if at += end; at >= mostPiece || at >= leastPiece && xxhash.Sum64String(line)%cutEvery == 0 {
			return text[:at], text[at:]
		}
	}
}

// packedPiece is a packed piece with the number of bytes of its text.
type packedPiece struct {
	packed []byte
	size   int
}

// piecesOf returns the pieces of data. ok is false if data is not in pieces.
func piecesOf(data []byte) (list []packedPiece, ok bool) {
	rest, ok := bytes.CutSuffix(data, []byte(piecesMark))
	if !ok || len(rest) < 4 {
		return nil, false
	}
	rest, length := rest[:len(rest)-4], int64(binary.LittleEndian.Uint32(rest[len(rest)-4:]))
	if length > int64(len(rest)) {
		return nil, false
	}
	stream, index := rest[:len(rest)-int(length)], rest[len(rest)-int(length):]
	for all := uint64(0); len(index) > 0; {
		packed, n := binary.Uvarint(index)
		size, m := binary.Uvarint(index[max(n, 0):])
		if n <= 0 || m <= 0 || packed > uint64(len(stream)) || size > mostRatio*packed {
			return nil, false
		}
		if last := len(index) == n+m; size < leastPiece && !last { // millions of tiny pieces would take more memory than the text
			return nil, false
		}
		if all += size; all > maxUnpacked {
			return nil, false
		}
		list = append(list, packedPiece{stream[:packed], int(size)})
		stream, index = stream[packed:], index[n+m:]
	}
	return list, len(list) > 0 && bytes.Equal(stream, lastBlock)
}

// packedPieces returns the packed pieces of data, by their text. `text` is the text of the data.
func packedPieces(text string, data []byte) map[string][]byte {
	list, _ := piecesOf(data)
	known := make(map[string][]byte, len(list))
	for _, p := range list {
		if p.size > len(text) {
			return nil
		}
		known[text[:p.size]], text = p.packed, text[p.size:]
	}
	return known
}

// UnpackDocument is the reverse of PackDocument. It returns fault.Corrupt if data cannot be unpacked.
func UnpackDocument(data []byte) (string, error) { return new(Unpacker).Unpack(data) }

// Unpacker unpacks the data of a document that changes. It keeps the last text, so that unchanged pieces need not be unpacked again. The
// zero value has no last text.
type Unpacker struct {
	known map[[sha256.Size]byte]string // texts of pieces, by the sum of their packed form
	sums  [][sha256.Size]byte          // of the last text's pieces, in order
}

// Unpack returns the text of data, or fault.Corrupt if data cannot be unpacked.
func (u *Unpacker) Unpack(data []byte) (string, error) {
	list, ok := piecesOf(data)
	if !ok {
		u.known, u.sums = nil, nil
		return unpackWhole(data, maxUnpacked)
	}
	text, err := u.unpack(list)
	if err != nil {
		return "", fault.Newf(fault.Corrupt, "read document", "%d bytes cannot be unpacked: %w", len(data), err)
	}
	return text, nil
}

func (u *Unpacker) unpack(list []packedPiece) (string, error) {
	size := 0
	for _, p := range list {
		size += p.size
	}
	var all strings.Builder
	all.Grow(size)
	sums := make([][sha256.Size]byte, len(list))
	var one inflater
	for i, p := range list {
		sums[i] = sha256.Sum256(p.packed)
		if text, ok := u.known[sums[i]]; ok && len(text) == p.size {
			all.WriteString(text)
			continue
		}
		text, err := one.unpack(p)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	text := all.String()
	u.known, u.sums = make(map[[sha256.Size]byte]string, len(list)), sums
	at := 0
	for i, p := range list {
		u.known[sums[i]] = text[at : at+p.size]
		at += p.size
	}
	return text, nil
}

// Keep makes the unpacker keep only the given end of its last text, and refer to the copy in `end`. The other pieces have to be unpacked
// again.
func (u *Unpacker) Keep(end string) {
	known := make(map[[sha256.Size]byte]string)
	for _, sum := range slices.Backward(u.sums) {
		at := len(end) - len(u.known[sum])
		if at < 0 {
			break
		}
		known[sum], end = end[at:], end[:at]
	}
	u.known, u.sums = known, nil
}

// inflater unpacks pieces one after the other.
type inflater struct {
	packed bytes.Reader
	in     []byte
	out    []byte
	r      io.ReadCloser
}

var errPiece = errors.New("a piece stands for another number of bytes than it says")

// unpack returns the text of a piece, which is valid until the next call.
func (u *inflater) unpack(p packedPiece) ([]byte, error) {
	u.in = append(append(u.in[:0], p.packed...), lastBlock...)
	u.packed.Reset(u.in)
	if u.r == nil {
		u.r = flate.NewReader(&u.packed)
	} else if err := u.r.(flate.Resetter).Reset(&u.packed, nil); err != nil {
		return nil, err
	}
	u.out = slices.Grow(u.out[:0], p.size)[:p.size]
	if _, err := io.ReadFull(u.r, u.out); err != nil {
		return nil, fmt.Errorf("%w: %w", errPiece, err)
	}
	var more [1]byte
	if n, err := u.r.Read(more[:]); n > 0 || !errors.Is(err, io.EOF) || u.packed.Len() > 0 {
		return nil, errPiece
	}
	return u.out, nil
}

// unpackWhole unpacks a stream that must not be followed by anything.
func unpackWhole(data []byte, most int64) (string, error) {
	var b strings.Builder
	in := bytes.NewReader(data)
	n, err := io.Copy(&b, io.LimitReader(flate.NewReader(in), most+1))
	switch {
	case err != nil:
	case n > most:
		err = fmt.Errorf("they stand for more than %d bytes", most)
	case in.Len() > 0:
		err = fmt.Errorf("there are %d bytes behind their end", in.Len())
	}
	if err != nil {
		return "", fault.Newf(fault.Corrupt, "read document", "%d bytes cannot be unpacked: %w", len(data), err)
	}
	return b.String(), nil
}
