// Package record is a keyword's record as the layouts of the thesis keep it:
// schema/pb's Keyword, Protocol Buffers, of what a set knows.
package record

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/schema/pb"
)

// Append appends the record of keyword i. norm are the hashes of its words, nil
// where they lie elsewhere.
func Append(dst []byte, set *layouts.Set, i int, norm []uint64) ([]byte, error) {
	bid := uint64(set.Bids[i])
	dst, err := proto.MarshalOptions{}.MarshalAppend(dst, &pb.Keyword{
		Id: set.ID(i), Text: string(set.Text(nil, i)), Type: pb.MatchType_MATCH_TYPE_BROAD,
		Enabled: true, Bid: &bid, Quality: uint32(set.Qualities[i]), Norm: norm,
	})
	return dst, fault.New(fault.Internal, "record: append", err)
}

// Record is what goes on with a match, read where it lies.
type Record struct {
	ID, Bid uint64
	Quality uint32
	Text    []byte // of the bytes that were read
}

// Numbers of schema/pb's Keyword.
const (
	fieldID      = 1
	fieldText    = 2
	fieldBid     = 5
	fieldQuality = 7
)

// Read reads a record in one pass, without copies. Generated code, which makes a
// string of the text, takes six times as long. fault.Corrupt: it is not a string.
func (r *Record) Read(b []byte) error {
	*r = Record{}
	for len(b) > 0 {
		tag := b[0] // all of Keyword's take one byte
		v, n := binary.Uvarint(b[1:])
		if tag >= 0x80 || n <= 0 {
			return Damaged()
		}
		b = b[1+n:]
		var text []byte
		switch protowire.Type(tag & 7) {
		case protowire.VarintType:
		case protowire.BytesType:
			if v > uint64(len(b)) {
				return Damaged()
			}
			text, b = b[:v], b[v:]
		default: // Keyword has no others
			return Damaged()
		}
		r.take(tag>>3, v, text)
	}
	if r.ID == 0 {
		return Damaged()
	}
	return nil
}

func (r *Record) take(number byte, v uint64, text []byte) {
	switch number {
	case fieldID:
		r.ID = v
	case fieldText:
		r.Text = text
	case fieldBid:
		r.Bid = v
	case fieldQuality:
		r.Quality = uint32(v)
	}
}

// Damaged is the error of a value that is not what was written.
func Damaged() error {
	return fault.Newf(fault.Corrupt, "record: read", "a keyword's data are damaged or missing; build the layout again")
}
