package page

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"adshard/barrels/record"
)

// A page holds some Target keyword records of one group with the
// anchors chosen for them, by ascending keyword id. A group's keywords share most
// of their words, so each word stands in the page once, as it is written;
// hashes that follow from it are not kept:
//
//	count      uvarint   of keywords
//	forms      uvarint, forms × { size uvarint, language }
//	bid        uvarint   of the keywords with pageBid
//	words      uvarint   of words
//	size       uvarint   of the words, in bytes
//	words ×    { size × 8 + flags uvarint, text, hashes }
//	count ×    keyword
//	format     uint8
//	checksum   xxh64 of all before it
//
// Hashes of a word: the norm's with ownNorm, the fold's with ownFold, one for
// each form with ownTerms. Without, the norm is that of the text in lower case
// (ASCII), the fold the norm, the terms those of the text in lower case.
//
//	keyword    delta uvarint, type and quality uint8, flags and words uint8
//	           bid uvarint          with pageHasBid, without pageBid
//	           words × uvarint      index into the page's words
//	           forms × uint8        which of its words is the anchor
//	           size uvarint, text   with pageText; else: the words with a space between
//
// delta is to the id before. A keyword with pageWhole has, after its two
// bytes: anchors uvarint, anchors × term uint64, size uvarint, pb.Keyword.
// Numbers of fixed size are little-endian.

// Target is the number of keywords on a page that is written afresh.
const Target = 64

// Format is the version of a page's bytes; it stands behind them.
const Format = 2

// tail is the size of the format byte and the checksum.
const tail = 1 + 8

// Flags of a word on a page.
const (
	ownNorm = 1 << iota
	ownFold
	ownTerms
	wordFlags = 3 // bits
)

// The first byte of a keyword on a page: type, 2 flags, quality.
const (
	pageType    = 0x03
	pageEnabled = 0x04
	pageGroups  = 0x08 // the keyword has its group's default bid
	pageQuality = 4    // shift
)

// The second byte: number of words, flags.
const (
	pageWords  = 0x0f
	pageHasBid = 0x10
	pageBid    = 0x20
	pageText   = 0x40
	pageWhole  = 0x80
)

// ErrDamaged is the error of a page, or of the keywords on it, that cannot be
// read.
var ErrDamaged = errors.New("barrels: damaged page of keywords")

// parts is a page's parts, in place.
type parts struct {
	count    int
	forms    int
	heads    []byte // of the forms
	bid      uint64
	words    int
	texts    []byte // the words
	keywords []byte
}

func openPage(value []byte) (p parts, err error) {
	n := len(value) - tail
	if n < 0 || value[n] != Format ||
		xxhash.Sum64(value[:n+1]) != binary.LittleEndian.Uint64(value[n+1:]) {
		return parts{}, ErrDamaged
	}
	c := cursor{b: value[:n]}
	p.count, p.forms = c.count(), c.count()
	heads := c.b
	for range p.forms {
		c.bytes(c.uvarint())
	}
	p.heads = heads[:len(heads)-len(c.b)]
	p.bid = c.uvarint()
	p.words = c.count()
	p.texts = c.bytes(c.uvarint())
	p.keywords = c.b
	if c.bad || p.forms > record.MaxForms {
		return parts{}, ErrDamaged
	}
	return p, nil
}

// First is the id of the page's first keyword; 0: it is damaged.
func (p *parts) First() uint64 {
	c := cursor{b: p.keywords}
	return c.uvarint()
}

// Checksum returns the checksum in a page's value, which must not be damaged.
func Checksum(value []byte) uint64 { return binary.LittleEndian.Uint64(value[len(value)-8:]) }

// cursor reads what a page is made of. It turns bad, and gives zeros, when the
// bytes come to an end.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) uvarint() uint64 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		v := uint64(c.b[0])
		c.b = c.b[1:]
		return v
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
}

// count reads a number of things that take a byte each at least.
func (c *cursor) count() int {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return 0
	}
	return int(n)
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return nil
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.bad = true
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) uint64() uint64 {
	if len(c.b) < 8 {
		c.b, c.bad = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return v
}

// Fill returns how many of n keywords belong on the next page.
func Fill(n int) int {
	if n <= Target*3/2 {
		return n
	}
	return Target
}
