package page

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/encoding/protowire"
)

// Target is the number of keywords on a newly written page.
const Target = 64

// Format is the version of a page's bytes, which it follows.
const Format = 3

// tail is the size of the format byte and the checksum after the message.
const tail = 1 + 8

// ErrDamaged means that a page, or the keywords on it, cannot be read.
var ErrDamaged = errors.New("barrels: damaged page of keywords")

// Fields of pb.KeywordPage.
const (
	languages protowire.Number = 1 + iota
	wordTexts
	pageBid
	ids
	types
	qualities
	flags
	bids
	lengths
	references
	anchors
	ownNorms
	norms
	ownFolds
	folds
	ownTerms
	terms
	texts
	whole
	fields
)

// Fields of pb.WholeKeyword.
const (
	wholeKeyword protowire.Number = 1 + iota
	wholeAnchors
)

// Flags of a keyword.
const (
	enabled = 1 << iota
	hasBid
	bidFromGroup
	hasPageBid
	ownText
	isWhole
)

// columns are the packed fields of a page, by field number. A read past the end of a column returns
// 0 and sets bad.
type columns struct {
	of  [fields][]byte
	bad bool
}

// number reads the next element of a column of varints.
func (c *columns) number(field protowire.Number) uint64 {
	b := c.of[field]
	if len(b) > 0 && b[0] < 0x80 {
		c.of[field] = b[1:]
		return uint64(b[0])
	}
	v, n := binary.Uvarint(b)
	if n <= 0 {
		c.of[field], c.bad = nil, true
		return 0
	}
	c.of[field] = b[n:]
	return v
}

// hash reads the next element of a column of fixed64.
func (c *columns) hash(field protowire.Number) uint64 {
	b := c.of[field]
	if len(b) < 8 {
		c.of[field], c.bad = nil, true
		return 0
	}
	c.of[field] = b[8:]
	return binary.LittleEndian.Uint64(b)
}

// owns reports whether the next element of a column of indexes is the given word, and reads it if
// so. Most columns of indexes are empty.
func (c *columns) owns(field protowire.Number, word int) bool {
	return len(c.of[field]) > 0 && c.take(field, word)
}

func (c *columns) take(field protowire.Number, word int) bool {
	v, n := binary.Uvarint(c.of[field])
	if v != uint64(word) || n <= 0 {
		return false
	}
	c.of[field] = c.of[field][n:]
	return true
}

// message returns the message in a page's value, or ErrDamaged.
func message(value []byte) ([]byte, error) {
	n := len(value) - tail
	if n < 0 || value[n] != Format || xxhash.Sum64(value[:n+1]) != binary.LittleEndian.Uint64(value[n+1:]) {
		return nil, ErrDamaged
	}
	return value[:n:n], nil
}

// seal appends format and checksum to the message from start on.
func seal(dst []byte, start int) []byte {
	dst = append(dst, Format)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// Checksum returns the checksum in a page's value. The page must not be damaged.
func Checksum(value []byte) uint64 { return binary.LittleEndian.Uint64(value[len(value)-8:]) }

// Fill returns how many of n keywords belong on the next page.
func Fill(n int) int {
	if n <= Target*3/2 {
		return n
	}
	return Target
}
